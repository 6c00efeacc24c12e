package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.count;
import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

import dev.parley.external.cli.ProgramEvent.RawReason;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses `codex exec --json`: items that start, change and complete.
sealed class CodexParser extends LineParser permits CodexServerParser {

  private static final int ITEMS_MAX = 100_000;
  private static final List<String> SPENT =
      List.of("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens");

  private final String model;
  private final Map<String, StringBuilder> texts = new HashMap<>();
  private final Set<String> started = new HashSet<>();
  private final Set<String> ended = new HashSet<>();
  private final Map<String, String> spawned = new HashMap<>();
  private final @Nullable JsonNode before;
  private @Nullable String lastText;

  /// `model` is the name under which usage is reported: Codex does not send it. `before` is the
  /// earlier usage of the session, if any: Codex sends sums over the whole session.
  CodexParser(String model, @Nullable JsonNode before) {
    this.model = model;
    this.before = before;
  }

  @Override
  void parse(ObjectNode json) {
    switch (textOr(json.path("type"), "")) {
      case "thread.started" -> {
        addSession(text(json.path("thread_id")));
        keep(RawReason.PARTLY_MAPPED);
      }
      case "turn.started" -> {}
      case "item.started", "item.updated" -> item(object(json.path("item")), false);
      case "item.completed" -> item(object(json.path("item")), true);
      case "turn.completed" -> {
        addUsage(json.path("usage"));
        turnCompleted();
      }
      case "turn.failed" -> turnFailed(message(json.path("error")));
      case "error" -> addError(message(json));
      default -> keep(RawReason.UNKNOWN);
    }
  }

  static String message(JsonNode error) {
    var message = text(error.path("message"));
    return message == null ? "Codex reported an error without a message" : message;
  }

  /// The turn has succeeded; its result is the last complete message.
  final void turnCompleted() {
    turnCompleted(lastText);
  }

  final void turnFailed(String message) {
    if (message.contains("401 Unauthorized") || message.contains("403 Forbidden")) {
      turnFailed(ErrorCode.AUTH, message, false);
    } else if (message.contains("429 Too Many Requests")) {
      turnFailed(ErrorCode.RATE_LIMITED, message, true);
    } else {
      turnFailed(ErrorCode.MODEL_ERROR, message, true);
    }
  }

  final void addUsage(JsonNode usage) {
    if (!usage.isObject()) {
      return;
    }
    if (usage instanceof ObjectNode totals) {
      add(new ProgramEvent.SessionTotals(totals));
    }
    // The input includes cached tokens.
    var cached = addUsage(usage, "cached_input_tokens");
    add(
        new ProgramEvent.UsageReported(
            new Usage(
                model,
                Math.max(0, addUsage(usage, "input_tokens") - cached),
                addUsage(usage, "output_tokens"),
                addUsage(usage, "cache_write_input_tokens"),
                cached,
                null)));
  }

  /// The usage since the session was last used; the full count if the sums have not grown.
  private long addUsage(JsonNode usage, String name) {
    var known = before;
    if (known == null
        || SPENT.stream().anyMatch(n -> count(usage.path(n)) < count(known.path(n)))) {
      return count(usage.path(name));
    }
    return count(usage.path(name)) - count(known.path(name));
  }

  final void item(ObjectNode item, boolean whole) {
    var id = textOr(item.path("id"), "item");
    switch (textOr(item.path("type"), "")) {
      case "agent_message" -> {
        addText(newPiece(id, item));
        if (whole) {
          lastText = text(item.path("text"));
          add(new ProgramEvent.TextEnd(null));
        }
      }
      case "reasoning" -> addThinking(newPiece(id, item));
      case "command_execution" -> call(item, "shell", only(item, "command"), whole);
      case "file_change" -> call(item, "file_change", only(item, "changes"), whole);
      case "web_search" -> call(item, "web_search", only(item, "query"), whole);
      case "mcp_tool_call" -> {
        var name = textOr(item.path("server"), "mcp") + "." + textOr(item.path("tool"), "tool");
        call(item, name, object(item.path("arguments")), whole);
      }
      case "collab_tool_call" -> collaboration(item, whole);
      case "todo_list" -> plan(item);
      case "error" -> addError(message(item));
      default -> keep(RawReason.UNKNOWN);
    }
  }

  /// The part of the item's text that was not reported yet; null if there is none.
  private @Nullable String newPiece(String id, ObjectNode item) {
    var text = textOr(item.path("text"), "");
    var before = texts.getOrDefault(id, new StringBuilder());
    if (texts.size() < ITEMS_MAX) {
      texts.put(id, new StringBuilder(text));
    }
    return text.length() > before.length() && text.startsWith(before.toString())
        ? text.substring(before.length())
        : null;
  }

  /// Records a piece of an item's text that arrived before the item was complete.
  final void addPiece(String id, String piece) {
    if (texts.size() < ITEMS_MAX || texts.containsKey(id)) {
      texts.computeIfAbsent(id, _ -> new StringBuilder()).append(piece);
    }
  }

  private void plan(ObjectNode item) {
    var plan = new StringBuilder();
    for (var entry : item.path("items")) {
      plan.append(entry.path("completed").asBoolean(false) ? "[x] " : "[ ] ")
          .append(textOr(entry.path("text"), ""))
          .append('\n');
    }
    if (!plan.isEmpty()) {
      addThinking(plan.toString());
    }
  }

  private static ObjectNode only(ObjectNode item, String field) {
    var arguments = Json.object();
    if (item.has(field)) {
      arguments.set(field, item.path(field));
    }
    return arguments;
  }

  private void call(ObjectNode item, String name, ObjectNode arguments, boolean whole) {
    begin(item, name, arguments, null);
    if (whole && ended.size() < ITEMS_MAX && ended.add(textOr(item.path("id"), "item"))) {
      add(end(item));
    }
  }

  private void begin(
      ObjectNode item,
      String name,
      ObjectNode arguments,
      ProgramEvent.@Nullable SubagentStart subagentStart) {
    var id = textOr(item.path("id"), "item");
    if (started.size() < ITEMS_MAX && started.add(id)) {
      add(new ProgramEvent.ToolCalled(null, id, name, arguments, subagentStart));
    }
  }

  private static ProgramEvent end(ObjectNode item) {
    var id = textOr(item.path("id"), "item");
    var status = textOr(item.path("status"), "completed");
    if (status.equals("completed")) {
      return returned(id, result(item));
    }
    var output = textOr(item.path("aggregated_output"), "");
    var error = text(item.path("error").path("message"));
    var code =
        item.path("exit_code").isNumber() ? " (exit code " + item.path("exit_code") + ")" : "";
    var detail = error == null ? output : error;
    return failed(id, status + code + (detail.isBlank() ? "" : ": " + detail.strip()));
  }

  private static JsonNode result(ObjectNode item) {
    var result = Json.object();
    if (item.path("aggregated_output").isString()) {
      result.set("output", item.path("aggregated_output"));
      result.set("exitCode", item.path("exit_code"));
      return result;
    }
    if (item.hasNonNull("result")) {
      return item.path("result");
    }
    return item.hasNonNull("changes") ? result.set("changes", item.path("changes")) : result;
  }

  /// The output of sub-agents is not available: only their start and end are known.
  private void collaboration(ObjectNode item, boolean whole) {
    var tool = textOr(item.path("tool"), "collab");
    if (!tool.equals("spawn_agent")) {
      call(item, tool, only(item, "receiver_thread_ids"), whole);
      finished(item);
      return;
    }
    var prompt = textOr(item.path("prompt"), "");
    begin(item, tool, only(item, "prompt"), new ProgramEvent.SubagentStart(null, prompt));
    if (whole) {
      var receivers = item.path("receiver_thread_ids");
      if (!textOr(item.path("status"), "").equals("failed") && !receivers.isEmpty()) {
        // The call ends when its sub-agent does.
        spawned.put(textOr(receivers.path(0), ""), textOr(item.path("id"), "item"));
        finished(item);
      } else {
        ended(textOr(item.path("id"), "item"), end(item));
      }
    }
  }

  private void finished(ObjectNode item) {
    for (var state : item.path("agents_states").properties()) {
      var call = spawned.get(state.getKey());
      var status = textOr(state.getValue().path("status"), "");
      var message = text(state.getValue().path("message"));
      if (call != null && status.equals("completed")) {
        ended(call, returned(call, textNode(message == null ? "" : message)));
      } else if (call != null && Set.of("errored", "shutdown", "not_found").contains(status)) {
        ended(call, failed(call, message == null ? status : message));
      }
    }
  }

  private void ended(String call, ProgramEvent end) {
    if (ended.size() < ITEMS_MAX && ended.add(call)) {
      add(end);
    }
  }
}
