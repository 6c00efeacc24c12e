package dev.parley.model;

import dev.parley.net.ServerSentEvent;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses the event stream of OpenAI's responses API. For one thread.
final class ResponsesStreamParser extends ModelStreamParser {

  /// An output item: a message, a tool call, or reasoning.
  private static final class Item {
    private final ToolCallDraft call = new ToolCallDraft();
    private JsonNode json;
    private int length;

    Item(JsonNode json) {
      this.json = json;
    }

    boolean is(String type) {
      return json.path("type").asString("").equals(type);
    }
  }

  private final TreeMap<Integer, Item> items = new TreeMap<>();
  private boolean refused;
  private @Nullable JsonNode response;

  ResponsesStreamParser(ProviderRequest request, Supplier<String> ids, SinkWriter sinkWriter) {
    super(request, ids, sinkWriter);
  }

  @Override
  boolean accept(ServerSentEvent event) throws ModelFailure, InterruptedException {
    if (event.data().strip().equals("[DONE]")) {
      return true;
    }
    var json = ModelFailures.json(event);
    switch (json.path("type").asString(event.event())) {
      case "response.output_item.added" -> item(json).json = json.path("item");
      case "response.output_text.delta" -> text(item(json), json.path("delta").asString(""));
      case "response.refusal.delta" -> {
        refused = true;
        text(item(json), json.path("delta").asString(""));
      }
      case "response.reasoning_summary_part.added" -> sinkWriter.separateThought();
      case "response.reasoning_summary_text.delta", "response.reasoning_text.delta" ->
          sinkWriter.thinking(json.path("delta").asString(""));
      case "response.function_call_arguments.delta" ->
          item(json).call.add(json.path("delta").asString(""));
      case "response.output_item.done" -> done(item(json), json.path("item"));
      case "response.completed", "response.incomplete" -> {
        response = json.path("response");
        tokenCounter.addOpenAi(response.path("usage"), "input", "output");
        return true;
      }
      case "response.failed" -> throw ModelFailures.fromStream(json.path("response"));
      case "error" -> throw ModelFailures.fromStream(json);
      default -> {
        // Starts and ends of parts, and events that this version does not know.
      }
    }
    return false;
  }

  private Item item(JsonNode json) {
    return items.computeIfAbsent(json.path("output_index").asInt(0), _ -> new Item(Json.object()));
  }

  private void text(Item item, String piece) throws InterruptedException {
    var before = sinkWriter.length();
    sinkWriter.text(piece);
    item.length += sinkWriter.length() - before;
  }

  private static void done(Item item, JsonNode json) {
    item.json = json;
    var arguments = json.path("arguments").asString("");
    if (!arguments.isEmpty()) {
      item.call.replace(arguments);
    }
  }

  @Override
  ModelReply.ModelAnswer finish() throws ModelFailure, InterruptedException {
    if (response == null) {
      throw ModelFailures.endedEarly();
    }
    var drafts = new ArrayList<ToolCallDraft>();
    for (var item : items.values()) {
      if (item.is("function_call")) {
        item.call.setIdAndName(
            item.json.path("call_id").asString(""), item.json.path("name").asString(""));
        drafts.add(item.call);
      }
    }
    return answer(drafts, reason(response, drafts), memo());
  }

  private FinishReason reason(JsonNode whole, List<ToolCallDraft> drafts) {
    return switch (whole.path("incomplete_details").path("reason").asString("")) {
      case "max_output_tokens", "max_tokens" -> FinishReason.LENGTH;
      case "content_filter" -> FinishReason.CONTENT_FILTER;
      default -> {
        if (refused) {
          yield FinishReason.REFUSAL;
        }
        yield drafts.isEmpty() ? FinishReason.STOP : FinishReason.TOOL_CALLS;
      }
    };
  }

  /// Returns the reasoning items, and their order among messages and tool calls. Only encrypted
  /// items can be sent back, because the provider has not stored the others.
  private @Nullable JsonNode memo() {
    if (items.values().stream().noneMatch(ResponsesStreamParser::encrypted)) {
      return null;
    }
    var memo = Json.object().put("model", request.settings.model());
    var list = memo.putArray("items");
    for (var item : items.values()) {
      if (encrypted(item) && item.json instanceof ObjectNode reasoned) {
        list.add(SurrogateRepair.object(reasoned));
      } else if (item.is("message")) {
        list.addObject().put("type", "message").put("length", item.length);
      } else if (item.is("function_call")) {
        list.addObject().put("type", "function_call");
      }
    }
    return memo;
  }

  private static boolean encrypted(Item item) {
    return item.is("reasoning")
        && ChatCompletionsRequest.hasText(item.json.path("encrypted_content"));
  }
}
