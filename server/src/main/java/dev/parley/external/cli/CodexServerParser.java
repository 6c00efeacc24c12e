package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

import dev.parley.external.cli.ProgramEvent.RawReason;
import dev.parley.protocol.Json;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses `codex app-server`: JSON-RPC, in which Codex also asks for permission to run commands,
/// change files and call tools.
///
/// The notifications of a turn have the same content as the output of `codex exec --json`, with
/// other names; they are converted to that form.
final class CodexServerParser extends CodexParser {

  /// The ids of the requests to the program.
  static final int INITIALIZE = 1;

  static final int THREAD = 2;
  private static final int TURN = 3;

  private static final int CHANGES_MAX = 1_000;

  private final String prompt;
  private final Map<String, JsonNode> changes = new HashMap<>();
  private @Nullable String thread;
  private @Nullable ObjectNode spent;

  /// `prompt` starts the turn.
  CodexServerParser(String model, @Nullable JsonNode before, String prompt) {
    super(model, before);
    this.prompt = prompt;
  }

  @Override
  void parse(ObjectNode json) {
    var method = text(json.path("method"));
    if (method == null) {
      answer(json);
    } else if (json.hasNonNull("id")) {
      request(method, json.path("id"), object(json.path("params")));
    } else {
      notification(method, object(json.path("params")));
    }
  }

  private void answer(ObjectNode json) {
    if (json.hasNonNull("error")) {
      turnFailed(message(json.path("error")));
      return;
    }
    var id = text(json.path("result").path("thread").path("id"));
    if (json.path("id").asInt(0) != THREAD || id == null || thread != null) {
      return;
    }
    thread = id;
    var turn = Json.object().put("threadId", id);
    turn.putArray("input").addObject().put("type", "text").put("text", prompt);
    addSession(id);
    keep(RawReason.PARTLY_MAPPED);
    add(new ProgramEvent.LineToSend(JsonRpcLines.request(TURN, "turn/start", turn)));
  }

  private void notification(String method, ObjectNode params) {
    remember(method, params);
    var whose = text(params.path("threadId"));
    if (whose != null && !whose.equals(thread)) {
      // This belongs to a sub-agent, which its parent reports.
      return;
    }
    var id = textOr(params.path("itemId"), "item");
    var delta = text(params.path("delta"));
    switch (method) {
      case "item/started" -> serverItem(object(params.path("item")), false);
      case "item/completed" -> serverItem(object(params.path("item")), true);
      case "item/agentMessage/delta" -> {
        if (delta != null) {
          addPiece(id, delta);
          addText(delta);
        }
      }
      case "item/reasoning/summaryTextDelta", "item/reasoning/textDelta" -> {
        if (delta != null) {
          addPiece(id, delta);
          addThinking(delta);
        }
      }
      case "thread/tokenUsage/updated" ->
          spent = toSnakeCase(object(params.path("tokenUsage").path("total")));
      case "turn/completed" -> completed(object(params.path("turn")));
      case "error" -> addError(message(params.path("error")));
      case "thread/started",
          "thread/status/changed",
          "thread/settings/updated",
          "turn/started",
          "turn/diff/updated",
          "turn/plan/updated",
          "item/reasoning/summaryPartAdded",
          "item/plan/delta",
          "item/commandExecution/outputDelta",
          "item/fileChange/outputDelta",
          "item/fileChange/patchUpdated",
          "item/mcpToolCall/progress",
          "serverRequest/resolved",
          "account/rateLimits/updated",
          "remoteControl/status/changed" -> {}
      default -> keep(RawReason.UNKNOWN);
    }
  }

  /// Keeps the changes of files until they are made, including those of sub-agents, which also ask
  /// for approval.
  private void remember(String method, ObjectNode params) {
    var item = params.path("item");
    var change = toSnakeCase(textOr(item.path("type"), "")).equals("file_change");
    switch (method) {
      case "item/started" -> {
        if (change) {
          remember(key(params, item.path("id")), item.path("changes"));
        }
      }
      case "item/fileChange/patchUpdated" ->
          remember(key(params, params.path("itemId")), params.path("changes"));
      case "item/completed" -> changes.remove(key(params, item.path("id")));
      default -> {} // Other notifications do not concern file changes.
    }
  }

  private void remember(String key, JsonNode change) {
    if (changes.size() < CHANGES_MAX || changes.containsKey(key)) {
      changes.put(key, change);
    }
  }

  private static String key(ObjectNode params, JsonNode item) {
    return textOr(params.path("threadId"), "") + "/" + textOr(item, "");
  }

  private void completed(ObjectNode turn) {
    if (spent != null) {
      addUsage(spent);
    }
    var status = textOr(turn.path("status"), "");
    if (status.equals("completed")) {
      turnCompleted();
    } else {
      var message = text(turn.path("error").path("message"));
      turnFailed(message == null ? "the turn ended: " + status : message);
    }
  }

  private void request(String method, JsonNode id, ObjectNode params) {
    var call = text(params.path("itemId"));
    switch (method) {
      case "item/commandExecution/requestApproval" -> {
        var about =
            about(
                params,
                "command",
                "cwd",
                "commandActions",
                "networkApprovalContext",
                "additionalPermissions",
                "reason");
        if (about.has("command") || about.has("networkApprovalContext")) {
          ask(decision(id, about), "shell", call);
        } else {
          decline(method, id, "Codex asked to run a command without naming it");
        }
      }
      case "item/fileChange/requestApproval" -> {
        var known = changes.get(key(params, params.path("itemId")));
        if (known != null && !known.isEmpty()) {
          var about = about(params, "reason", "grantRoot");
          about.set("changes", known);
          ask(decision(id, about), "file_change", call);
        } else {
          decline(method, id, "Codex asked to change files without sending the changes");
        }
      }
      case "mcpServer/elicitation/request" -> elicitation(id, params);
      default -> refuse(method, id);
    }
  }

  /// Codex sends approval requests for MCP tools as if the MCP server asked.
  private void elicitation(JsonNode id, ObjectNode params) {
    var meta = params.path("_meta");
    if (!textOr(meta.path("codex_approval_kind"), "").equals("mcp_tool_call")) {
      refuse("mcpServer/elicitation/request", id);
      return;
    }
    var about = about(params, "message");
    if (meta.hasNonNull("tool_params")) {
      about.set("arguments", meta.path("tool_params"));
    }
    var yes = Json.object().put("action", "accept");
    yes.putObject("content");
    var tool = textOr(meta.path("tool_name"), "tool");
    ask(
        new JsonRpcLines.RpcApprovalReply(id, about, yes, Json.object().put("action", "decline")),
        textOr(params.path("serverName"), "mcp") + "." + tool,
        null);
  }

  /// Declines on behalf of everyone: a request without content cannot be approved.
  private void decline(String what, JsonNode id, String why) {
    add(
        new ProgramEvent.UnsupportedRequest(
            what, JsonRpcLines.result(id, Json.object().put("decision", "decline"))));
    add(new ProgramEvent.ErrorMessage(why + "; the request was declined"));
    keep(RawReason.PARTLY_MAPPED);
  }

  private void refuse(String what, JsonNode id) {
    add(
        new ProgramEvent.UnsupportedRequest(
            what, JsonRpcLines.error(id, "unsupported method: " + what)));
    keep(RawReason.UNKNOWN);
  }

  private static JsonRpcLines.RpcApprovalReply decision(JsonNode id, ObjectNode about) {
    return new JsonRpcLines.RpcApprovalReply(
        id,
        about,
        Json.object().put("decision", "accept"),
        Json.object().put("decision", "decline"));
  }

  private void ask(JsonRpcLines.RpcApprovalReply reply, String tool, @Nullable String call) {
    add(
        new ProgramEvent.PermissionAsked(
            reply.id().toString(), tool, reply.asked(), call, false, reply));
  }

  private static ObjectNode about(ObjectNode params, String... fields) {
    var about = Json.object();
    for (var field : fields) {
      if (params.hasNonNull(field)) {
        about.set(field, params.path(field));
      }
    }
    return about;
  }

  private void serverItem(ObjectNode item, boolean whole) {
    var type = toSnakeCase(textOr(item.path("type"), ""));
    if (type.equals("user_message")) {
      return;
    }
    item(toExecItem(item, type), whole);
  }

  /// Converts an item to the form of `codex exec --json`.
  private static ObjectNode toExecItem(ObjectNode item, String type) {
    var plain = toSnakeCase(item);
    plain.put("status", toSnakeCase(textOr(item.path("status"), "completed")));
    switch (type) {
      case "collab_agent_tool_call" -> {
        plain
            .put("type", "collab_tool_call")
            .put("tool", toSnakeCase(textOr(item.path("tool"), "")));
        var states = plain.putObject("agents_states");
        for (var state : item.path("agentsStates").properties()) {
          var status = toSnakeCase(textOr(state.getValue().path("status"), ""));
          states.set(state.getKey(), object(state.getValue()).deepCopy().put("status", status));
        }
      }
      case "reasoning" -> plain.put("type", type).put("text", joined(item.path("summary")));
      case "plan" -> plain.put("type", "reasoning");
      default -> plain.put("type", type);
    }
    return plain;
  }

  private static String joined(JsonNode parts) {
    var text = new StringBuilder();
    parts.forEach(part -> text.append(textOr(part, "")));
    return text.toString();
  }

  private static ObjectNode toSnakeCase(ObjectNode camel) {
    var snake = Json.object();
    camel.properties().forEach(field -> snake.set(toSnakeCase(field.getKey()), field.getValue()));
    return snake;
  }

  private static String toSnakeCase(String camel) {
    return camel.replaceAll("([a-z])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
  }
}
