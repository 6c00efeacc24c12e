package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.count;
import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses `codex exec --json`: items that start, change and complete.
public final class CodexParser implements LineParser {

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

  /// `model` is the name under which usage is reported: Codex does not send it.
  public CodexParser(String model) {
    this(model, null);
  }

  /// For a session with this earlier usage: Codex sends sums over the whole session.
  CodexParser(String model, @Nullable JsonNode before) {
    this.model = model;
    this.before = before;
  }

  @Override
  public List<ProgramEvent> read(String line) {
    if (line.isBlank()) {
      return List.of();
    }
    var json = JsonLine.parse(line).orElse(null);
    if (json == null) {
      return List.of(new ProgramEvent.KeptLine(ProgramEvent.RawReason.NOISE));
    }
    var said = new ArrayList<ProgramEvent>();
    switch (textOr(json.path("type"), "")) {
      case "thread.started" -> {
        var id = text(json.path("thread_id"));
        if (id != null) {
          said.add(new ProgramEvent.SessionKnown(id));
        }
        said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.PARTLY_MAPPED));
      }
      case "turn.started" -> {}
      case "item.started", "item.updated" -> item(object(json.path("item")), false, said);
      case "item.completed" -> item(object(json.path("item")), true, said);
      case "turn.completed" -> {
        addUsage(json.path("usage"), said);
        said.add(new ProgramEvent.TurnEnded(true, lastText, null));
        said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.PARTLY_MAPPED));
      }
      case "turn.failed" -> {
        var message = message(json.path("error"));
        said.add(new ProgramEvent.TurnEnded(false, null, failure(message)));
        said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.PARTLY_MAPPED));
      }
      case "error" -> said.add(new ProgramEvent.ErrorMessage(message(json)));
      default -> said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.UNKNOWN));
    }
    return said;
  }

  @Override
  public List<ProgramEvent> end() {
    return List.of();
  }

  static String message(JsonNode error) {
    var message = text(error.path("message"));
    return message == null ? "Codex reported an error without a message" : message;
  }

  static ProgramEvent.TurnFailure failure(String message) {
    if (message.contains("401 Unauthorized") || message.contains("403 Forbidden")) {
      return new ProgramEvent.TurnFailure(ErrorCode.AUTH, message, false);
    }
    if (message.contains("429 Too Many Requests")) {
      return new ProgramEvent.TurnFailure(ErrorCode.RATE_LIMITED, message, true);
    }
    return new ProgramEvent.TurnFailure(ErrorCode.MODEL_ERROR, message, true);
  }

  void addUsage(JsonNode usage, List<ProgramEvent> said) {
    if (!usage.isObject()) {
      return;
    }
    if (usage instanceof ObjectNode totals) {
      said.add(new ProgramEvent.SessionTotals(totals));
    }
    // The input includes cached tokens.
    var cached = addUsage(usage, "cached_input_tokens");
    said.add(
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

  void item(ObjectNode item, boolean whole, List<ProgramEvent> said) {
    var id = textOr(item.path("id"), "item");
    switch (textOr(item.path("type"), "")) {
      case "agent_message" -> {
        said.addAll(newPieces(id, item, piece -> new ProgramEvent.TextDelta(null, piece)));
        if (whole) {
          lastText = text(item.path("text"));
          said.add(new ProgramEvent.TextEnd(null));
        }
      }
      case "reasoning" ->
          said.addAll(newPieces(id, item, piece -> new ProgramEvent.ThinkingDelta(null, piece)));
      case "command_execution" -> call(item, "shell", only(item, "command"), whole, said);
      case "file_change" -> call(item, "file_change", only(item, "changes"), whole, said);
      case "web_search" -> call(item, "web_search", only(item, "query"), whole, said);
      case "mcp_tool_call" -> {
        var name = textOr(item.path("server"), "mcp") + "." + textOr(item.path("tool"), "tool");
        call(item, name, object(item.path("arguments")), whole, said);
      }
      case "collab_tool_call" -> collaboration(item, whole, said);
      case "todo_list" -> plan(item, said);
      case "error" -> said.add(new ProgramEvent.ErrorMessage(message(item)));
      default -> said.add(new ProgramEvent.KeptLine(ProgramEvent.RawReason.UNKNOWN));
    }
  }

  private interface PieceEvent {
    ProgramEvent of(String piece);
  }

  /// The part of the item's text that was not reported yet.
  private List<ProgramEvent> newPieces(String id, ObjectNode item, PieceEvent pieceEvent) {
    var text = textOr(item.path("text"), "");
    var before = texts.getOrDefault(id, new StringBuilder());
    if (texts.size() < ITEMS_MAX) {
      texts.put(id, new StringBuilder(text));
    }
    var piece = text.startsWith(before.toString()) ? text.substring(before.length()) : "";
    return piece.isEmpty() ? List.of() : List.of(pieceEvent.of(piece));
  }

  /// Records a piece of an item's text that arrived before the item was complete.
  void addPiece(String id, String piece) {
    if (texts.size() < ITEMS_MAX || texts.containsKey(id)) {
      texts.computeIfAbsent(id, _ -> new StringBuilder()).append(piece);
    }
  }

  /// The last complete message.
  @Nullable String lastText() {
    return lastText;
  }

  private void plan(ObjectNode item, List<ProgramEvent> said) {
    var plan = new StringBuilder();
    for (var entry : item.path("items")) {
      plan.append(entry.path("completed").asBoolean(false) ? "[x] " : "[ ] ")
          .append(textOr(entry.path("text"), ""))
          .append('\n');
    }
    if (!plan.isEmpty()) {
      said.add(new ProgramEvent.ThinkingDelta(null, plan.toString()));
    }
  }

  private static ObjectNode only(ObjectNode item, String field) {
    var arguments = Json.object();
    if (item.has(field)) {
      arguments.set(field, item.path(field));
    }
    return arguments;
  }

  private void call(
      ObjectNode item, String name, ObjectNode arguments, boolean whole, List<ProgramEvent> said) {
    begin(item, name, arguments, null, said);
    if (whole && ended.size() < ITEMS_MAX && ended.add(textOr(item.path("id"), "item"))) {
      said.add(end(item));
    }
  }

  private void begin(
      ObjectNode item,
      String name,
      ObjectNode arguments,
      ProgramEvent.@Nullable SubagentStart subagentStart,
      List<ProgramEvent> said) {
    var id = textOr(item.path("id"), "item");
    if (started.size() < ITEMS_MAX && started.add(id)) {
      said.add(new ProgramEvent.ToolCalled(null, id, name, arguments, subagentStart));
    }
  }

  private static ProgramEvent end(ObjectNode item) {
    var id = textOr(item.path("id"), "item");
    var status = textOr(item.path("status"), "completed");
    if (status.equals("completed")) {
      return new ProgramEvent.ToolEnded(null, id, result(item), null);
    }
    var output = textOr(item.path("aggregated_output"), "");
    var error = text(item.path("error").path("message"));
    var code =
        item.path("exit_code").isNumber() ? " (exit code " + item.path("exit_code") + ")" : "";
    var detail = error == null ? output : error;
    return new ProgramEvent.ToolEnded(
        null, id, null, status + code + (detail.isBlank() ? "" : ": " + detail.strip()));
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
  private void collaboration(ObjectNode item, boolean whole, List<ProgramEvent> said) {
    var tool = textOr(item.path("tool"), "collab");
    if (!tool.equals("spawn_agent")) {
      call(item, tool, only(item, "receiver_thread_ids"), whole, said);
      finished(item, said);
      return;
    }
    var prompt = textOr(item.path("prompt"), "");
    begin(item, tool, only(item, "prompt"), new ProgramEvent.SubagentStart(null, prompt), said);
    if (whole) {
      var receivers = item.path("receiver_thread_ids");
      if (!textOr(item.path("status"), "").equals("failed") && !receivers.isEmpty()) {
        // The call ends when its sub-agent does.
        spawned.put(textOr(receivers.path(0), ""), textOr(item.path("id"), "item"));
        finished(item, said);
      } else {
        ended(textOr(item.path("id"), "item"), end(item), said);
      }
    }
  }

  private void finished(ObjectNode item, List<ProgramEvent> said) {
    for (var state : item.path("agents_states").properties()) {
      var call = spawned.get(state.getKey());
      var status = textOr(state.getValue().path("status"), "");
      var message = text(state.getValue().path("message"));
      if (call != null && status.equals("completed")) {
        var result = Json.mapper().getNodeFactory().stringNode(message == null ? "" : message);
        ended(call, new ProgramEvent.ToolEnded(null, call, result, null), said);
      } else if (call != null && Set.of("errored", "shutdown", "not_found").contains(status)) {
        ended(
            call,
            new ProgramEvent.ToolEnded(null, call, null, message == null ? status : message),
            said);
      }
    }
  }

  private void ended(String call, ProgramEvent end, List<ProgramEvent> said) {
    if (ended.size() < ITEMS_MAX && ended.add(call)) {
      said.add(end);
    }
  }
}
