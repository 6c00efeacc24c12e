package dev.parley.model;

import dev.parley.model.FakeModelAnswer.Step;
import dev.parley.protocol.Json;
import tools.jackson.databind.node.ObjectNode;

/// Writes an answer as a stream of OpenAI's chat completions API.
final class ChatCompletionsWire implements FakeModelWire {

  private final boolean usage;
  private int calls;

  ChatCompletionsWire(boolean usage) {
    this.usage = usage;
  }

  @Override
  public String begin(FakeModelAnswer answer) {
    return chunk(Json.object().put("role", "assistant").put("content", ""), null);
  }

  @Override
  public String step(Step step) {
    var events = new StringBuilder();
    switch (step) {
      case Step.Text(var pieces) ->
          pieces.forEach(piece -> events.append(chunk(Json.object().put("content", piece), null)));
      case Step.Thinking(var pieces, _) ->
          pieces.forEach(
              piece -> events.append(chunk(Json.object().put("reasoning_content", piece), null)));
      case Step.Call(var id, var name, var json) -> {
        var index = calls++;
        var first = Json.object();
        var call = first.putArray("tool_calls").addObject().put("index", index);
        call.put("id", id).put("type", "function");
        call.putObject("function").put("name", name).put("arguments", "");
        events.append(chunk(first, null));
        for (var piece : json) {
          var more = Json.object();
          var next = more.putArray("tool_calls").addObject().put("index", index);
          next.putObject("function").put("arguments", piece);
          events.append(chunk(more, null));
        }
      }
      case Step.Fail(var type, var message) -> {
        var error = Json.object();
        error.putObject("error").put("type", type).put("message", message);
        events.append("data: ").append(error).append("\n\n");
      }
      case Step.Redacted _, Step.Used _, Step.Stop _, Step.Raw _, Step.Wait _ -> {}
    }
    return events.toString();
  }

  @Override
  public String end(FakeModelAnswer answer) {
    var end = chunk(Json.object(), FakeModelWire.stop(answer, "tool_calls", "stop"));
    if (usage) {
      var used = FakeModelWire.used(answer);
      var last = Json.object().put("object", "chat.completion.chunk");
      last.putArray("choices");
      var counts = last.putObject("usage");
      counts.put("prompt_tokens", used.input() + used.cacheRead());
      counts.put("completion_tokens", used.output());
      counts.putObject("prompt_tokens_details").put("cached_tokens", used.cacheRead());
      end += "data: " + last + "\n\n";
    }
    return end + "data: [DONE]\n\n";
  }

  private static String chunk(ObjectNode delta, String reason) {
    var chunk = Json.object().put("id", "chatcmpl-1").put("object", "chat.completion.chunk");
    var choice = chunk.putArray("choices").addObject().put("index", 0);
    choice.set("delta", delta);
    choice.put("finish_reason", reason);
    chunk.putNull("usage");
    return "data: " + chunk + "\n\n";
  }
}
