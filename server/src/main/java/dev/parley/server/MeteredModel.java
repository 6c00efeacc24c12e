package dev.parley.server;

import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.Prompt;

/// A model that counts requests under its name in the configuration.
record MeteredModel(String title, Model model, Metrics metrics) implements Model {

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
    var begin = System.nanoTime();
    var result = "interrupted";
    try {
      var modelReply = model.ask(prompt, modelSink);
      result =
          switch (modelReply) {
            case ModelReply.ModelAnswer _ -> "ok";
            case ModelReply.ModelError modelError -> modelError.code().wire();
          };
      return modelReply;
    } finally {
      metrics.counter(Metric.MODEL_REQUESTS, title, result).increment();
      metrics.histogram(Metric.MODEL_SECONDS, title).record(System.nanoTime() - begin);
    }
  }
}
