package dev.parley.model;

import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.protocol.Json;
import tools.jackson.databind.node.ObjectNode;

/// Encodes an answer in one of the APIs, event by event. For one thread.
interface FakeModelWire {

  static FakeModelWire of(FakeModelServer.ReceivedRequest receivedRequest) {
    return switch (receivedRequest.wire()) {
      case ANTHROPIC -> new AnthropicWire();
      case CHAT ->
          new ChatCompletionsWire(
              receivedRequest.body().path("stream_options").has("include_usage"));
      case RESPONSES -> new ResponsesWire();
    };
  }

  String begin(FakeModelAnswer answer);

  String step(Step step);

  String end(FakeModelAnswer answer);

  /// Returns the usage that the answer reports.
  static Step.Used used(FakeModelAnswer answer) {
    return answer.steps().stream()
        .filter(Step.Used.class::isInstance)
        .map(Step.Used.class::cast)
        .findFirst()
        .orElse(new Step.Used(1, 1, 0, 0));
  }

  /// Returns the stop reason of the answer, or one of these two.
  static String stop(FakeModelAnswer answer, String calls, String plain) {
    var usual = answer.steps().stream().anyMatch(Step.Call.class::isInstance) ? calls : plain;
    return answer.steps().stream()
        .filter(Step.Stop.class::isInstance)
        .map(step -> ((Step.Stop) step).reason())
        .findFirst()
        .orElse(usual);
  }

  static String event(ObjectNode data) {
    return "event: " + data.path("type").asString() + "\ndata: " + data + "\n\n";
  }

  static ObjectNode typed(String type) {
    return Json.object().put("type", type);
  }
}
