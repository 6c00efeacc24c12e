package dev.parley.server;

import dev.parley.door.Metric;
import dev.parley.door.Metrics;
import dev.parley.model.Model;
import dev.parley.model.Prompt;
import dev.parley.model.Reply;
import dev.parley.model.Sink;

/// A model that counts requests under its name in the configuration.
record MeteredModel(String title, Model model, Metrics metrics) implements Model {

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public Reply ask(Prompt prompt, Sink sink) throws InterruptedException {
    var begin = System.nanoTime();
    var result = "interrupted";
    try {
      var reply = model.ask(prompt, sink);
      result =
          switch (reply) {
            case Reply.Answered _ -> "ok";
            case Reply.Failed failed -> failed.code().wire();
          };
      return reply;
    } finally {
      metrics.counter(Metric.MODEL_REQUESTS, title, result).increment();
      metrics.histogram(Metric.MODEL_SECONDS, title).record(System.nanoTime() - begin);
    }
  }
}
