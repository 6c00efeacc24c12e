package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

import dev.parley.external.cli.ClaudeMessage.ClaudeBlock;
import dev.parley.external.cli.ProgramEvent.RawReason;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses Claude Code's `--output-format stream-json`, with or without partial messages.
///
/// A message arrives in pieces (`stream_event`), complete (`assistant`, one line per block), or
/// both. Text that was streamed is not reported again: blocks are matched by the id of the message
/// and their index in it.
public final class ClaudeParser extends LineParser {

  private static final Set<String> SUBAGENT_TOOLS = Set.of("Task", "Agent");
  private static final int MESSAGES_MAX = 1_000;
  private static final int CALLS_MAX = 100_000;

  private final Map<String, ClaudeMessage> messages =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, ClaudeMessage> eldest) {
          return size() > MESSAGES_MAX;
        }
      };
  private final Map<String, ClaudeMessage> current = new LinkedHashMap<>();
  private final Set<String> calls = new HashSet<>();
  private final ClaudeUsageCounter spending = new ClaudeUsageCounter();
  private @Nullable String session;

  @Override
  void parse(ObjectNode json) {
    var now = text(json.path("session_id"));
    if (now != null && !now.equals(session)) {
      session = now;
      addSession(now);
    }
    var within = text(json.path("parent_tool_use_id"));
    switch (textOr(json.path("type"), "")) {
      case "stream_event" -> streamEvent(within, object(json.path("event")));
      case "assistant", "message" -> assistantMessage(within, json);
      case "user" -> results(within, json);
      case "result" -> result(json);
      case "system" -> {
        var known = textOr(json.path("subtype"), "").equals("init");
        keep(known ? RawReason.PARTLY_MAPPED : RawReason.UNKNOWN);
      }
      case "control_request" -> request(json);
      case "control_cancel_request", "control_response", "keep_alive" -> {}
      case "error" -> {
        var message = text(json.path("message"));
        addError(message == null ? textOr(json.path("error").path("message"), "error") : message);
        keep(RawReason.PARTLY_MAPPED);
      }
      default -> keep(RawReason.UNKNOWN);
    }
  }

  @Override
  public List<ProgramEvent> end() {
    return spending.end();
  }

  private void streamEvent(@Nullable String within, ObjectNode event) {
    var scope = within == null ? "" : within;
    var message = current.get(scope);
    var index = event.path("index").asInt(0);
    switch (textOr(event.path("type"), "")) {
      case "message_start" -> {
        var start = event.path("message");
        // Some gateways use the same id for all messages, so each start is a new message.
        var begun =
            new ClaudeMessage(textOr(start.path("id"), ""), textOr(start.path("model"), ""));
        messages.put(begun.id, begun);
        if (current.size() < MESSAGES_MAX) {
          current.put(scope, begun);
        }
        addAll(spending.begin(begun.id));
        spending.count(begun.id, begun.model, start.path("usage"));
        reportModelCall(within, begun);
      }
      case "content_block_start" -> {
        var block = event.path("content_block");
        var begun = message == null ? start(scope) : message;
        begun.begin(
            index,
            new ClaudeBlock(
                textOr(block.path("type"), ""), text(block.path("id")), text(block.path("name"))));
        delta(within, begun, index, block);
      }
      case "content_block_delta" ->
          delta(within, message == null ? start(scope) : message, index, event.path("delta"));
      case "content_block_stop" -> stop(within, message, index);
      case "message_delta" -> {
        if (message != null) {
          spending.count(message.id, message.model, event.path("usage"));
          addAll(spending.finishMessage(message.id));
        }
        endText(within, message);
        stopped(within, event.path("delta"));
      }
      case "message_stop" -> {
        endText(within, message);
        if (message != null) {
          addAll(spending.finishMessage(message.id));
        }
      }
      case "ping" -> {}
      default -> keep(RawReason.UNKNOWN);
    }
  }

  /// The message of a stream whose start was not received.
  private ClaudeMessage start(String scope) {
    var begun = new ClaudeMessage("", "");
    if (current.size() < MESSAGES_MAX) {
      current.put(scope, begun);
    }
    return begun;
  }

  private ClaudeMessage message(String id, String model) {
    return messages.computeIfAbsent(id, _ -> new ClaudeMessage(id, model));
  }

  /// Reports a model call, if this is the first line of the message.
  private void reportModelCall(@Nullable String within, ClaudeMessage message) {
    if (within == null && !message.id.isEmpty() && !message.modelCallReported) {
      message.modelCallReported = true;
      add(new ProgramEvent.ModelCalled(message.model));
    }
  }

  private void delta(@Nullable String within, ClaudeMessage message, int index, JsonNode delta) {
    var text = text(delta.path("text"));
    if (text != null) {
      message.add(index, "text", text);
      message.textOpen = true;
      add(new ProgramEvent.TextDelta(within, text));
    }
    var thinking = text(delta.path("thinking"));
    if (thinking != null) {
      message.add(index, "thinking", thinking);
      add(new ProgramEvent.ThinkingDelta(within, thinking));
    }
    var json = text(delta.path("partial_json"));
    if (json != null) {
      message.add(index, "tool_use", json);
    }
  }

  /// Ends the text of a message from a service that does not mark the end of blocks.
  private void endText(@Nullable String within, @Nullable ClaudeMessage message) {
    if (message != null && message.textOpen) {
      message.textOpen = false;
      add(new ProgramEvent.TextEnd(within, true));
    }
  }

  /// Reports why the model stopped, if `json` contains a reason.
  private void stopped(@Nullable String within, JsonNode json) {
    var reason = text(json.path("stop_reason"));
    if (reason != null) {
      add(
          new ProgramEvent.ModelStopped(
              within,
              switch (reason) {
                case "max_tokens", "model_context_window_exceeded" -> FinishReason.LENGTH;
                case "refusal" -> FinishReason.REFUSAL;
                default -> FinishReason.STOP; // The answer is complete, or continues after a call.
              }));
    }
  }

  private void stop(@Nullable String within, @Nullable ClaudeMessage message, int index) {
    var claudeBlock = message == null ? null : message.block(index);
    if (message == null || claudeBlock == null) {
      return;
    }
    if (claudeBlock.type.equals("text")) {
      message.textOpen = false;
      add(new ProgramEvent.TextEnd(within, true));
    } else if (claudeBlock.call != null && claudeBlock.tool != null) {
      var input = JsonLine.parse(claudeBlock.text.toString()).orElseGet(Json::object);
      call(within, claudeBlock.call, claudeBlock.tool, input);
    }
  }

  private void call(@Nullable String within, String id, String tool, ObjectNode input) {
    if (calls.size() >= CALLS_MAX || !calls.add(id)) {
      return;
    }
    var subagentStart =
        SUBAGENT_TOOLS.contains(tool)
            ? new ProgramEvent.SubagentStart(
                text(input.path("subagent_type")), textOr(input.path("prompt"), ""))
            : null;
    add(new ProgramEvent.ToolCalled(within, id, tool, input, subagentStart));
  }

  private void assistantMessage(@Nullable String within, ObjectNode json) {
    var envelope = json.path("message").isObject() ? object(json.path("message")) : json;
    if (textOr(envelope.path("role"), "assistant").equals("user")) {
      return;
    }
    var id = textOr(envelope.path("id"), "");
    var message =
        id.isEmpty() ? new ClaudeMessage("", "") : message(id, textOr(envelope.path("model"), ""));
    reportModelCall(within, message);
    if (!id.isEmpty()) {
      spending.count(id, message.model, envelope.path("usage"));
    }
    var mark = text(json.path("uuid"));
    if (mark != null && within == null) {
      add(new ProgramEvent.SessionMark(mark));
    }
    var content = envelope.path("content");
    if (content.isString()) {
      addTextBlock(within, message.remainingText(message.firstBlockIndex(1), content.asString()));
      return;
    }
    var failed = json.path("error").isString() || json.path("isApiErrorMessage").asBoolean(false);
    var index = message.firstBlockIndex(content.size());
    for (var block : content) {
      switch (textOr(block.path("type"), "")) {
        case "text" -> {
          var rest = message.remainingText(index, textOr(block.path("text"), ""));
          if (failed && !rest.isEmpty()) {
            addError(rest);
          } else {
            addTextBlock(within, rest);
          }
        }
        case "thinking" -> {
          var rest = message.remainingText(index, textOr(block.path("thinking"), ""));
          if (!rest.isEmpty()) {
            add(new ProgramEvent.ThinkingDelta(within, rest));
          }
        }
        case "tool_use" -> {
          var call = text(block.path("id"));
          if (call != null) {
            call(within, call, textOr(block.path("name"), "tool"), object(block.path("input")));
          }
        }
        case "redacted_thinking" -> {}
        default -> keep(RawReason.UNKNOWN);
      }
      index++;
    }
  }

  private void addTextBlock(@Nullable String within, String text) {
    if (!text.isEmpty()) {
      add(new ProgramEvent.TextDelta(within, text));
      add(new ProgramEvent.TextEnd(within, true));
    }
  }

  private void results(@Nullable String within, ObjectNode json) {
    var content = json.path("message").path("content");
    for (var block : content) {
      var id = text(block.path("tool_use_id"));
      if (id != null && textOr(block.path("type"), "").equals("tool_result")) {
        var failed = block.path("is_error").asBoolean(false);
        var result = result(block.path("content"));
        add(
            new ProgramEvent.ToolEnded(
                within, id, failed ? null : result, failed ? asText(result) : null));
      }
    }
    // A session that was interrupted before its answer can be resumed at this mark.
    var mark = text(json.path("uuid"));
    if (mark != null && within == null && !content.isEmpty() && !content.isString()) {
      add(new ProgramEvent.SessionMark(mark));
    }
  }

  /// Joins blocks that are all text to one text.
  private static JsonNode result(JsonNode content) {
    if (!content.isArray() || content.isEmpty()) {
      return content.isString() ? content : textNode("");
    }
    var whole = new StringBuilder();
    for (var block : content) {
      if (!block.path("text").isString()) {
        return content;
      }
      whole.append(whole.isEmpty() ? "" : "\n").append(block.path("text").asString());
    }
    return textNode(whole.toString());
  }

  private static String asText(JsonNode result) {
    return result.isString() ? result.asString() : result.toString();
  }

  private void result(ObjectNode json) {
    addAll(
        spending.total(json.path("modelUsage"), json.path("usage"), json.path("total_cost_usd")));
    var subtype = textOr(json.path("subtype"), "success");
    var success = subtype.equals("success") && !json.path("is_error").asBoolean(false);
    var text = text(json.path("result"));
    stopped(null, json);
    add(new ProgramEvent.TurnCount(JsonLine.count(json.path("num_turns"))));
    if (success) {
      turnCompleted(text);
    } else {
      turnFailed(json, subtype, text);
    }
  }

  private void turnFailed(ObjectNode json, String subtype, @Nullable String text) {
    var reasons = new ArrayList<String>();
    json.path("errors").forEach(error -> reasons.add(asText(error)));
    if (reasons.isEmpty() && text != null) {
      reasons.add(text);
    }
    var message =
        reasons.isEmpty() ? "Claude Code ended with " + subtype : String.join("; ", reasons);
    if (subtype.startsWith("error_max")) {
      turnFailed(ErrorCode.LIMIT, reasons.isEmpty() ? subtype : message, false);
      return;
    }
    var status = json.path("api_error_status").asInt(0);
    switch (status) {
      case 401, 403 -> turnFailed(ErrorCode.AUTH, message, false);
      case 429 -> turnFailed(ErrorCode.RATE_LIMITED, message, true);
      default -> turnFailed(ErrorCode.MODEL_ERROR, message, status == 0 || status >= 500);
    }
  }

  private void request(ObjectNode json) {
    var id = textOr(json.path("request_id"), "");
    var request = json.path("request");
    var subtype = textOr(request.path("subtype"), "");
    if (subtype.equals("can_use_tool")) {
      add(
          new ProgramEvent.PermissionAsked(
              id,
              textOr(request.path("tool_name"), "tool"),
              object(request.path("input")),
              text(request.path("tool_use_id")),
              request.path("requires_user_interaction").asBoolean(false),
              new ClaudeApprovalReply(id)));
    } else {
      var reason = "unsupported request: " + subtype;
      add(new ProgramEvent.UnsupportedRequest(subtype, new ClaudeApprovalReply(id).refuse(reason)));
      keep(RawReason.UNKNOWN);
    }
  }
}
