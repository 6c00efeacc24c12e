package dev.parley.api.openai;

import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The output items of one response, and the events of the Responses API that build them.
///
/// Events are numbered from 0. The same entries always give the same numbers, so a client may
/// continue after any of them at any time. For one thread.
final class ResponseOutput {

  private static final String OUTPUT_INDEX = "output_index";
  private static final String ITEM_ID = "item_id";
  private static final String STATUS = "status";
  private static final String COMPLETED = "completed";
  private static final String INCOMPLETE = "incomplete";
  private static final String IN_PROGRESS = "in_progress";
  private static final String DELTA = "delta";

  private final List<ObjectNode> items = new ArrayList<>();
  private final Set<Integer> replaced = new HashSet<>();
  private final Map<String, OpenText> openTexts = new LinkedHashMap<>();
  private final Map<String, Integer> texts = new HashMap<>();
  private final Map<String, Integer> openCalls = new LinkedHashMap<>();
  private @Nullable OpenText openReasoning;
  private List<ObjectNode> events = new ArrayList<>();
  private long sequence;

  /// An item whose text still grows.
  private record OpenText(String key, int index, StringBuilder text) {}

  /// Returns and removes the events that were added since the last call.
  List<ObjectNode> drain() {
    var all = events;
    events = new ArrayList<>();
    return all;
  }

  /// The items, without text that a later attempt replaced.
  List<ObjectNode> items() {
    var present = new ArrayList<ObjectNode>();
    for (var i = 0; i < items.size(); i++) {
      if (!replaced.contains(i)) {
        present.add(items.get(i));
      }
    }
    return present;
  }

  boolean hasText() {
    return !texts.isEmpty();
  }

  /// Adds an event; the caller adds its fields.
  ObjectNode event(String type) {
    var event = Json.object().put("type", type).put("sequence_number", sequence++);
    events.add(event);
    return event;
  }

  private ObjectNode itemEvent(String type, int index) {
    var event = event(type);
    event.put(ITEM_ID, items.get(index).path("id").asString()).put(OUTPUT_INDEX, index);
    return event;
  }

  private int addItem(ObjectNode item) {
    var index = items.size();
    items.add(item);
    event("response.output_item.added").put(OUTPUT_INDEX, index).set("item", item.deepCopy());
    return index;
  }

  private void endItem(int index) {
    event("response.output_item.done")
        .put(OUTPUT_INDEX, index)
        .set("item", items.get(index).deepCopy());
  }

  // --- text ---------------------------------------------------------------------------------

  /// Adds a delta to the message of a block.
  void appendText(String block, String delta) {
    endReasoning();
    var open = openTexts.get(block);
    if (open == null) {
      open = startText(block);
    }
    open.text().append(delta);
    var event = itemEvent("response.output_text.delta", open.index());
    event.put("content_index", 0).put(DELTA, delta).putArray("logprobs");
  }

  private OpenText startText(String block) {
    var item = Json.object().put("id", "msg_" + block).put("type", "message");
    item.put(STATUS, IN_PROGRESS).put("role", "assistant").putArray("content");
    var open = new OpenText(block, addItem(item), new StringBuilder());
    openTexts.put(block, open);
    texts.put(block, open.index());
    itemEvent("response.content_part.added", open.index())
        .put("content_index", 0)
        .set("part", part(""));
    return open;
  }

  private static ObjectNode part(String text) {
    var part = Json.object().put("type", "output_text").put("text", text);
    part.putArray("annotations");
    part.putArray("logprobs");
    return part;
  }

  /// Ends the message of a block. If no delta was added, adds the whole text first.
  void endText(String block, String text, boolean complete) {
    if (!text.isEmpty() && !texts.containsKey(block)) {
      appendText(block, text);
    }
    var open = openTexts.remove(block);
    if (open != null) {
      close(open, complete);
    }
  }

  private void close(OpenText open, boolean complete) {
    var text = open.text().toString();
    var done = itemEvent("response.output_text.done", open.index()).put("content_index", 0);
    done.put("text", text).putArray("logprobs");
    itemEvent("response.content_part.done", open.index())
        .put("content_index", 0)
        .set("part", part(text));
    var item = items.get(open.index());
    item.put(STATUS, complete ? COMPLETED : INCOMPLETE);
    item.withArray("/content").add(part(text));
    endItem(open.index());
  }

  /// Removes the message of a block from the final output: a later block replaces it.
  void replace(String block) {
    var index = texts.get(block);
    if (index != null) {
      replaced.add(index);
    }
  }

  /// Adds a complete message.
  void message(String id, String text) {
    appendText(id, text);
    endText(id, text, true);
  }

  // --- reasoning ----------------------------------------------------------------------------

  /// Adds a delta to a thought.
  void appendReasoning(String thought, String delta) {
    var open = openReasoning;
    if (open == null || !open.key().equals(thought)) {
      endReasoning();
      var item = Json.object().put("id", "rs_" + thought).put("type", "reasoning");
      item.putArray("summary");
      open = new OpenText(thought, addItem(item), new StringBuilder());
      openReasoning = open;
      itemEvent("response.reasoning_summary_part.added", open.index())
          .put("summary_index", 0)
          .set("part", summary(""));
    }
    if (!delta.isEmpty()) {
      open.text().append(delta);
      itemEvent("response.reasoning_summary_text.delta", open.index())
          .put("summary_index", 0)
          .put(DELTA, delta);
    }
  }

  private static ObjectNode summary(String text) {
    return Json.object().put("type", "summary_text").put("text", text);
  }

  /// Ends the open thought, if there is one.
  void endReasoning() {
    var open = openReasoning;
    if (open == null) {
      return;
    }
    openReasoning = null;
    var text = open.text().toString();
    itemEvent("response.reasoning_summary_text.done", open.index())
        .put("summary_index", 0)
        .put("text", text);
    itemEvent("response.reasoning_summary_part.done", open.index())
        .put("summary_index", 0)
        .set("part", summary(text));
    items.get(open.index()).withArray("/summary").add(summary(text));
    endItem(open.index());
  }

  // --- calls --------------------------------------------------------------------------------

  /// Starts the call of a tool that runs on the server.
  void startCall(String id, String name, String arguments) {
    endReasoning();
    var item = Json.object().put("id", "mcp_" + id).put("type", "mcp_call");
    item.put("server_label", QuestionForm.SERVER_LABEL).put("name", name).put("arguments", "");
    item.putNull("output").putNull("error").putNull("approval_request_id");
    var index = addItem(item.put(STATUS, IN_PROGRESS));
    openCalls.put(id, index);
    itemEvent("response.mcp_call.in_progress", index);
    itemEvent("response.mcp_call_arguments.delta", index).put(DELTA, arguments);
    itemEvent("response.mcp_call_arguments.done", index).put("arguments", arguments);
    item.put("arguments", arguments);
  }

  boolean isOpenCall(String id) {
    return openCalls.containsKey(id);
  }

  /// Ends such a call with its output, or with an error.
  void endCall(String id, @Nullable String output, @Nullable String error) {
    var index = openCalls.remove(id);
    if (index == null) {
      return;
    }
    var item = items.get(index).put(STATUS, error == null ? COMPLETED : "failed");
    Json.putPresent(item, "output", output);
    Json.putPresent(item, "error", error);
    itemEvent(error == null ? "response.mcp_call.completed" : "response.mcp_call.failed", index);
    endItem(index);
  }

  /// Adds a function call for the client.
  void functionCall(String callId, String name, String arguments) {
    var item = Json.object().put("id", "fc_" + callId).put("type", "function_call");
    item.put(STATUS, IN_PROGRESS).put("call_id", callId).put("name", name).put("arguments", "");
    var index = addItem(item);
    itemEvent("response.function_call_arguments.delta", index).put(DELTA, arguments);
    var done = itemEvent("response.function_call_arguments.done", index);
    done.put("name", name).put("arguments", arguments);
    item.put("arguments", arguments).put(STATUS, COMPLETED);
    endItem(index);
  }

  /// Adds a request for an approval.
  void approvalRequest(String id, String name, String arguments) {
    var item = Json.object().put("id", id).put("type", "mcp_approval_request");
    item.put("server_label", QuestionForm.SERVER_LABEL).put("name", name);
    endItem(addItem(item.put("arguments", arguments)));
  }

  /// Ends all open items, because the response ends.
  void close(boolean complete) {
    endReasoning();
    for (var block : List.copyOf(openTexts.keySet())) {
      endText(block, "", complete);
    }
    for (var index : openCalls.values()) {
      items.get(index).put(STATUS, INCOMPLETE);
      endItem(index);
    }
    openCalls.clear();
  }
}
