package dev.parley.server;

import dev.parley.http.Metric;
import dev.parley.http.Metrics;
import dev.parley.model.AnthropicModel;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelRetry;
import dev.parley.model.ModelSink;
import dev.parley.model.ModelSources;
import dev.parley.model.ModelThought;
import dev.parley.model.OpenAiModel;
import dev.parley.model.Prompt;
import dev.parley.net.OutgoingHttpClient;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.runtime.Time;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;

/// The models of a server by name.
final class Models {

  private final Map<String, Model> models = new LinkedHashMap<>();
  private final OutgoingHttpClient http;

  Models(
      Map<String, ModelConfig> configs,
      Server.ServerSources given,
      OutgoingHttpClient http,
      Metrics metrics) {
    this.http = http;
    var random = new SecureRandom();
    configs.forEach(
        (name, config) -> {
          var sources = new ModelSources(given.time(), random, () -> given.ids().get().toString());
          models.put(name, new MeteredModel(name, model(config, sources), metrics, given.time()));
        });
  }

  /// Fails every request. Agents that need a model cannot start with it.
  private record MissingModel() implements Model {
    @Override
    public String name() {
      return "none";
    }

    @Override
    public ModelReply ask(Prompt prompt, ModelSink modelSink) {
      return new ModelReply.ModelError(
          ErrorCode.INVALID_INPUT, "no model is configured: see models", false);
    }
  }

  /// Returns the model with this name, which must be configured.
  Model named(String name) {
    var model = models.get(name);
    if (model == null) {
      throw new IllegalArgumentException("there is no model " + name);
    }
    return model;
  }

  private Model model(ModelConfig config, ModelSources sources) {
    return switch (config) {
      case ModelConfig.Missing _ -> new MissingModel();
      case ModelConfig.Provided provided -> provided.factory().apply(sources);
      case ModelConfig.Anthropic(var settings, var modelLimits) ->
          new AnthropicModel(http, settings, modelLimits, sources);
      case ModelConfig.OpenAi(var openAiApi, var settings, var modelLimits) ->
          new OpenAiModel(openAiApi, http, settings, modelLimits, sources);
    };
  }

  /// A model that counts requests under its name in the configuration.
  private record MeteredModel(String title, Model model, Metrics metrics, Time time)
      implements Model {

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
}
