package dev.parley.external.cli;

import static dev.parley.external.cli.JsonLine.count;
import static dev.parley.external.cli.JsonLine.object;
import static dev.parley.external.cli.JsonLine.text;
import static dev.parley.external.cli.JsonLine.textOr;

import dev.parley.external.cli.ProgramEvent.RawReason;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses the output of a program that uses the [Agent Client
/// Protocol](https://agentclientprotocol.com): JSON-RPC, in which the program also asks for
/// permission to call tools.
///
/// When a session is loaded, the program first sends the earlier conversation again. Gemini CLI may
/// report that the session is loaded before it has sent all of it. Therefore the parser sends
/// harmless requests until no conversation arrives between their replies.
final class AcpParser extends LineParser {

  /// The ids of the requests to the program.
  static final int INITIALIZE = 1;

  static final int SESSION = 2;
  private static final int PROMPT = 3;
  private static final int IDLE_PROBE = 4;

  private static final int QUIET_PROBES_MIN = 2;
  private static final int PROBES_MAX = 10_000;
  private static final int CALLS_MAX = 100_000;

  private final String prompt;
  private final @Nullable String loadedSession;
  private final Set<String> calls = new HashSet<>();
  private @Nullable String session;
  private boolean begun;
  private boolean replayed;
  private int quietProbes;
  private int probes;

  /// `prompt` starts the turn; `loads` is the id of the session to resume, if any.
  AcpParser(String prompt, @Nullable String loads) {
    this.prompt = prompt;
    this.loadedSession = loads;
  }

  @Override
  void parse(ObjectNode json) {
    var method = text(json.path("method"));
    var params = object(json.path("params"));
    if (method == null) {
      answer(json);
    } else if (method.equals("session/update")) {
      if (begun) {
        update(object(params.path("update")));
      } else {
        replayed = true;
      }
    } else if (method.equals("session/request_permission")) {
      permission(json.path("id"), params);
    } else if (json.hasNonNull("id")) {
      var reason = "unsupported method: " + method;
      add(new ProgramEvent.UnsupportedRequest(method, JsonRpcLines.error(json.path("id"), reason)));
      keep(RawReason.UNKNOWN);
    } else {
      keep(RawReason.UNKNOWN);
    }
  }

  @Override
  public List<ProgramEvent> denied(ProgramEvent.PermissionAsked question, String reason) {
    var call = question.call();
    return call == null ? List.of() : List.of(failed(call, reason));
  }

  private void answer(ObjectNode json) {
    var id = json.path("id").asInt(0);
    if (json.hasNonNull("error")) {
      // The result of the harmless request does not matter.
      if (id == IDLE_PROBE) {
        probeOrPrompt();
      } else {
        turnFailed(object(json.path("error")));
      }
      return;
    }
    var result = object(json.path("result"));
    switch (id) {
      case SESSION -> {
        session = loadedSession == null ? text(result.path("sessionId")) : loadedSession;
        if (session == null) {
          var why = "no session was started: the reply to session/new has no sessionId";
          turnFailed(ErrorCode.MODEL_ERROR, why, false);
        } else {
          addSession(session);
          keep(RawReason.PARTLY_MAPPED);
          probeOrPrompt();
        }
      }
      case IDLE_PROBE -> probeOrPrompt();
      case PROMPT -> {
        addUsage(result);
        endTurn(textOr(result.path("stopReason"), ""));
      }
      default -> {} // The reply to `initialize` needs no action.
    }
  }

  /// Sends the prompt once the program has sent all of its earlier conversation.
  private void probeOrPrompt() {
    if (begun || session == null) {
      return;
    }
    quietProbes = replayed ? 0 : quietProbes + 1;
    replayed = false;
    if (loadedSession != null && quietProbes <= QUIET_PROBES_MIN && probes < PROBES_MAX) {
      probes++;
      var mode = Json.object().put("sessionId", session).put("modeId", "default");
      add(new ProgramEvent.LineToSend(JsonRpcLines.request(IDLE_PROBE, "session/set_mode", mode)));
      return;
    }
    begun = true;
    var turn = Json.object().put("sessionId", session);
    turn.putArray("prompt").addObject().put("type", "text").put("text", prompt);
    add(new ProgramEvent.LineToSend(JsonRpcLines.request(PROMPT, "session/prompt", turn)));
  }

  private void update(ObjectNode update) {
    var words = text(update.path("content").path("text"));
    var call = text(update.path("toolCallId"));
    switch (textOr(update.path("sessionUpdate"), "")) {
      case "agent_message_chunk" -> addText(words);
      case "agent_thought_chunk" -> addThinking(words);
      case "tool_call", "tool_call_update" -> {
        if (call != null) {
          call(call, update);
          ended(call, update);
        }
      }
      case "user_message_chunk", "available_commands_update", "current_mode_update" -> {}
      default -> keep(RawReason.UNKNOWN);
    }
  }

  private void call(String id, ObjectNode call) {
    if (calls.size() < CALLS_MAX && calls.add(id)) {
      addCall(id, tool(id, call), about(call));
    }
  }

  private void ended(String id, ObjectNode call) {
    var output = new StringBuilder();
    for (var part : call.path("content")) {
      output.append(textOr(part.path("content").path("text"), ""));
    }
    switch (textOr(call.path("status"), "")) {
      case "completed" -> add(returned(id, textNode(output.toString())));
      case "failed" -> add(failed(id, output.isEmpty() ? "failed" : output.toString()));
      default -> {} // The call is still running.
    }
  }

  /// Gemini CLI puts the name of the tool before its own id; other programs only send the kind of
  /// tool.
  private static String tool(String id, ObjectNode call) {
    var end = id.lastIndexOf("__");
    return end > 0 ? id.substring(0, end) : textOr(call.path("kind"), "tool");
  }

  /// The protocol has no tool arguments: the title or the diff of a file describes the call.
  private static ObjectNode about(ObjectNode call) {
    var about = Json.object();
    if (call.hasNonNull("title")) {
      about.set("title", call.path("title"));
    }
    if (!call.path("locations").isEmpty()) {
      about.set("locations", call.path("locations"));
    }
    if (!call.path("content").isEmpty()) {
      about.set("content", call.path("content"));
    }
    return about;
  }

  private void permission(JsonNode id, ObjectNode params) {
    var call = object(params.path("toolCall"));
    var name = textOr(call.path("toolCallId"), "call");
    call(name, call);
    var about = about(call);
    var reply =
        new JsonRpcLines.RpcApprovalReply(
            id,
            about,
            outcome(params.path("options"), "allow_once"),
            outcome(params.path("options"), "reject_once"));
    add(
        new ProgramEvent.PermissionAsked(
            id.toString(), tool(name, call), about, name, false, reply));
  }

  /// The option of this kind. Options that apply to later calls too are never chosen.
  private static ObjectNode outcome(JsonNode options, String kind) {
    var answer = Json.object();
    for (var option : options) {
      if (textOr(option.path("kind"), "").equals(kind) && option.hasNonNull("optionId")) {
        answer
            .putObject("outcome")
            .put("outcome", "selected")
            .set("optionId", option.path("optionId"));
        return answer;
      }
    }
    answer.putObject("outcome").put("outcome", "cancelled");
    return answer;
  }

  private void addUsage(ObjectNode result) {
    for (var one : result.path("_meta").path("quota").path("model_usage")) {
      var tokens = one.path("token_count");
      var input = count(tokens.path("input_tokens"));
      var output = count(tokens.path("output_tokens"));
      if (input + output > 0) {
        var model = textOr(one.path("model"), "gemini");
        add(new ProgramEvent.UsageReported(new Usage(model, input, output, null, null, null)));
      }
    }
  }

  private void endTurn(String reason) {
    switch (reason) {
      case "end_turn" -> turnCompleted(null);
      case "max_tokens", "max_turn_requests" ->
          turnFailed(ErrorCode.LIMIT, "the turn ended: " + reason, false);
      default -> turnFailed(ErrorCode.MODEL_ERROR, "the turn ended: " + reason, true);
    }
  }

  private void turnFailed(ObjectNode error) {
    var details = text(error.path("data").path("details"));
    var message = details == null ? textOr(error.path("message"), "no error message") : details;
    switch (error.path("code").asInt(0)) {
      case 401, 403, -32_000 -> turnFailed(ErrorCode.AUTH, message, false);
      case 429 -> turnFailed(ErrorCode.RATE_LIMITED, message, true);
      default -> turnFailed(ErrorCode.MODEL_ERROR, message, true);
    }
  }
}
