package dev.parley.model;

import static dev.parley.model.FakeModelWire.event;
import static dev.parley.model.FakeModelWire.typed;

import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.protocol.Json;
import tools.jackson.databind.node.ObjectNode;

/// Writes an answer as a stream of OpenAI's responses API.
final class ResponsesWire implements FakeModelWire {

  private int index;

  @Override
  public String begin(FakeModelAnswer answer) {
    var created = typed("response.created");
    created.putObject("response").put("id", "resp_1").put("status", "in_progress");
    return event(created);
  }

  @Override
  public String step(Step step) {
    return switch (step) {
      case Step.Text(var pieces) -> {
        var item = typed("message").put("id", "msg_" + index).put("role", "assistant");
        var events = new StringBuilder(item("response.output_item.added", item));
        events.append(event(at("response.content_part.added")));
        for (var piece : pieces) {
          events.append(event(at("response.output_text.delta").put("delta", piece)));
        }
        item.putArray("content").add(typed("output_text").put("text", String.join("", pieces)));
        yield events.append(done(item)).toString();
      }
      case Step.Thinking(var pieces, var signature) -> {
        var item = typed("reasoning").put("id", "rs_" + index);
        var summary = item.putArray("summary");
        var events = new StringBuilder(item("response.output_item.added", item.deepCopy()));
        events.append(event(at("response.reasoning_summary_part.added")));
        for (var piece : pieces) {
          events.append(event(at("response.reasoning_summary_text.delta").put("delta", piece)));
        }
        summary.add(typed("summary_text").put("text", String.join("", pieces)));
        item.put("encrypted_content", signature);
        yield events.append(done(item)).toString();
      }
      case Step.Call(var id, var name, var json) -> {
        var item = typed("function_call").put("id", "fc_" + index).put("call_id", id);
        item.put("name", name).put("arguments", "");
        var events = new StringBuilder(item("response.output_item.added", item));
        for (var piece : json) {
          events.append(event(at("response.function_call_arguments.delta").put("delta", piece)));
        }
        item.put("arguments", String.join("", json));
        yield events.append(done(item)).toString();
      }
      case Step.Fail(var type, var message) ->
          event(typed("error").put("code", type).put("message", message));
      case Step.Redacted _, Step.Used _, Step.Stop _, Step.Raw _, Step.Wait _ -> "";
    };
  }

  private String done(ObjectNode item) {
    var event = item("response.output_item.done", item);
    index++;
    return event;
  }

  private String item(String type, ObjectNode item) {
    var event = at(type);
    event.set("item", item);
    return event(event);
  }

  private ObjectNode at(String type) {
    return typed(type).put("output_index", index);
  }

  @Override
  public String end(FakeModelAnswer answer) {
    var reason = FakeModelWire.stop(answer, "", "");
    var used = FakeModelWire.used(answer);
    var last = typed(reason.isEmpty() ? "response.completed" : "response.incomplete");
    var response = last.putObject("response").put("id", "resp_1");
    if (!reason.isEmpty()) {
      response.set("incomplete_details", Json.object().put("reason", reason));
    }
    var usage = response.putObject("usage");
    usage.put("input_tokens", used.input() + used.cacheRead()).put("output_tokens", used.output());
    usage.putObject("input_tokens_details").put("cached_tokens", used.cacheRead());
    usage.put("total_tokens", used.input() + used.cacheRead() + used.output());
    return event(last);
  }
}
