package dev.parley.model;

import static dev.parley.model.FakeModelWire.event;
import static dev.parley.model.FakeModelWire.typed;

import dev.parley.model.FakeModelAnswer.Step;
import java.util.List;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/// Writes an answer as a stream of Anthropic's Messages API.
final class AnthropicWire implements FakeModelWire {

  private int index;

  @Override
  public String begin(FakeModelAnswer answer) {
    var used = FakeModelWire.used(answer);
    var start = typed("message_start");
    var message =
        start.putObject("message").put("id", "msg_" + UUID.randomUUID()).put("type", "message");
    message.put("role", "assistant").put("model", "stand-in").putArray("content");
    message
        .putObject("usage")
        .put("input_tokens", used.input())
        .put("cache_creation_input_tokens", used.cacheWrite())
        .put("cache_read_input_tokens", used.cacheRead())
        .put("output_tokens", 1);
    return event(start) + event(typed("ping"));
  }

  @Override
  public String step(Step step) {
    return switch (step) {
      case Step.Text(var pieces) ->
          block(typed("text").put("text", ""), "text_delta", "text", pieces, "");
      case Step.Thinking(var pieces, var signature) ->
          block(
              typed("thinking").put("thinking", "").put("signature", ""),
              "thinking_delta",
              "thinking",
              pieces,
              signature);
      case Step.Redacted(var data) ->
          block(typed("redacted_thinking").put("data", data), "", "", List.of(), "");
      case Step.Call(var id, var name, var json) -> {
        var start = typed("tool_use").put("id", id).put("name", name);
        start.putObject("input");
        yield block(start, "input_json_delta", "partial_json", json, "");
      }
      case Step.Fail(var type, var message) -> {
        var error = typed("error");
        error.putObject("error").put("type", type).put("message", message);
        yield event(error);
      }
      case Step.Used _, Step.Stop _, Step.Raw _, Step.Wait _ -> "";
    };
  }

  private String block(
      ObjectNode start, String type, String field, List<String> pieces, String signature) {
    var events = new StringBuilder();
    var begin = typed("content_block_start").put("index", index);
    begin.set("content_block", start);
    events.append(event(begin));
    for (var piece : pieces) {
      events.append(delta(typed(type).put(field, piece)));
    }
    if (!signature.isEmpty()) {
      events.append(delta(typed("signature_delta").put("signature", signature)));
    }
    return events.append(event(typed("content_block_stop").put("index", index++))).toString();
  }

  private String delta(ObjectNode delta) {
    var event = typed("content_block_delta").put("index", index);
    event.set("delta", delta);
    return event(event);
  }

  @Override
  public String end(FakeModelAnswer answer) {
    var delta = typed("message_delta");
    delta
        .putObject("delta")
        .put("stop_reason", FakeModelWire.stop(answer, "tool_use", "end_turn"))
        .putNull("stop_sequence");
    delta.putObject("usage").put("output_tokens", FakeModelWire.used(answer).output());
    return event(delta) + event(typed("message_stop"));
  }
}
