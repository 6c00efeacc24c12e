package dev.parley.server;

import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelRetry;
import dev.parley.model.ModelSink;
import dev.parley.model.ModelThought;
import dev.parley.model.Prompt;
import dev.parley.runtime.Time;

/// A model that counts requests under its name in the configuration.
record MeteredModel(String title, Model model, Metrics metrics, Time time) implements Model {

  MeteredModel {
    // Shows 0 before the first retry.
    var _ = metrics.counter(Metric.MODEL_RETRIES, title);
  }

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
    var begin = time.nanos();
    var result = "interrupted";
    try {
      var modelReply = model.ask(prompt, new RetryCounter(modelSink));
      result =
          switch (modelReply) {
            case ModelReply.ModelAnswer _ -> "ok";
            case ModelReply.ModelError modelError -> modelError.code().wire();
          };
      return modelReply;
    } finally {
      metrics.counter(Metric.MODEL_REQUESTS, title, result).increment();
      metrics.histogram(Metric.MODEL_SECONDS, title).record(time.nanos() - begin);
    }
  }

  private final class RetryCounter implements ModelSink {

    private final ModelSink sink;

    RetryCounter(ModelSink sink) {
      this.sink = sink;
    }

    @Override
    public void text(String piece) throws InterruptedException {
      sink.text(piece);
    }

    @Override
    public void thinking(String piece) throws InterruptedException {
      sink.thinking(piece);
    }

    @Override
    public void thought(ModelThought modelThought) throws InterruptedException {
      sink.thought(modelThought);
    }

    @Override
    public void retry(ModelRetry modelRetry) throws InterruptedException {
      metrics.counter(Metric.MODEL_RETRIES, title).increment();
      sink.retry(modelRetry);
    }
  }
}
