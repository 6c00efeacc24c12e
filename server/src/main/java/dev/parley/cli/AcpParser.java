package dev.parley.cli;

import static dev.parley.cli.JsonLine.count;
import static dev.parley.cli.JsonLine.object;
import static dev.parley.cli.JsonLine.text;
import static dev.parley.cli.JsonLine.textOr;

import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import java.util.ArrayList;
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
final class AcpParser implements LineParser {

  /// The ids of the requests to the program.
  static final int HELLO = 1;

  static final int SESSION = 2;
  private static final int PROMPT = 3;
  private static final int STILL = 4;

  private static final int STILL_TIMES = 2;
  private static final int STILL_MAX = 10_000;
  private static final int CALLS_MAX = 100_000;

  private final String prompt;
  private final @Nullable String loads;
  private final Set<String> calls = new HashSet<>();
  private @Nullable String session;
  private boolean begun;
  private boolean told;
  private int still;
  private int asked;

  /// `prompt` starts the turn; `loads` is the id of the session to resume, if any.
  AcpParser(String prompt, @Nullable String loads) {
    this.prompt = prompt;
    this.loads = loads;
  }

  @Override
  public List<Said> read(String line) {
    if (line.isBlank()) {
      return List.of();
    }
    var json = JsonLine.parse(line).orElse(null);
    if (json == null) {
      return List.of(new Said.Raw(Said.Why.NOISE));
    }
    var said = new ArrayList<Said>();
    var method = text(json.path("method"));
    var params = object(json.path("params"));
    if (method == null) {
      answer(json, said);
    } else if (method.equals("session/update")) {
      if (begun) {
        update(object(params.path("update")), said);
      } else {
        told = true;
      }
    } else if (method.equals("session/request_permission")) {
      permission(json.path("id"), params, said);
    } else if (json.hasNonNull("id")) {
      var reason = "unsupported method: " + method;
      said.add(new Said.Demanded(method, Rpc.refusal(json.path("id"), reason)));
      said.add(new Said.Raw(Said.Why.UNKNOWN));
    } else {
      said.add(new Said.Raw(Said.Why.UNKNOWN));
    }
    return said;
  }

  @Override
  public List<Said> denied(Said.Asked question, String reason) {
    var call = question.call();
    return call == null ? List.of() : List.of(new Said.ToolEnded(null, call, null, reason));
  }

  @Override
  public List<Said> end() {
    return List.of();
  }

  private void answer(ObjectNode json, List<Said> said) {
    var id = json.path("id").asInt(0);
    if (json.hasNonNull("error")) {
      // The result of the harmless request does not matter.
      if (id == STILL) {
        next(said);
      } else {
        said.add(new Said.Ended(false, null, failure(object(json.path("error")))));
        said.add(new Said.Raw(Said.Why.MORE));
      }
      return;
    }
    var result = object(json.path("result"));
    switch (id) {
      case SESSION -> {
        session = loads == null ? text(result.path("sessionId")) : loads;
        if (session == null) {
          var why = "no session was started: the reply to session/new has no sessionId";
          said.add(
              new Said.Ended(false, null, new Said.Failure(ErrorCode.MODEL_ERROR, why, false)));
          said.add(new Said.Raw(Said.Why.MORE));
        } else {
          said.add(new Said.Session(session));
          said.add(new Said.Raw(Said.Why.MORE));
          next(said);
        }
      }
      case STILL -> next(said);
      case PROMPT -> {
        spent(result, said);
        said.add(ended(textOr(result.path("stopReason"), "")));
        said.add(new Said.Raw(Said.Why.MORE));
      }
      default -> {} // The reply to `initialize` needs no action.
    }
  }

  /// Sends the prompt once the program has sent all of its earlier conversation.
  private void next(List<Said> said) {
    if (begun || session == null) {
      return;
    }
    still = told ? 0 : still + 1;
    told = false;
    if (loads != null && still <= STILL_TIMES && asked < STILL_MAX) {
      asked++;
      var mode = Json.object().put("sessionId", session).put("modeId", "default");
      said.add(new Said.Ready(Rpc.request(STILL, "session/set_mode", mode)));
      return;
    }
    begun = true;
    var turn = Json.object().put("sessionId", session);
    turn.putArray("prompt").addObject().put("type", "text").put("text", prompt);
    said.add(new Said.Ready(Rpc.request(PROMPT, "session/prompt", turn)));
  }

  private void update(ObjectNode update, List<Said> said) {
    var words = text(update.path("content").path("text"));
    var call = text(update.path("toolCallId"));
    switch (textOr(update.path("sessionUpdate"), "")) {
      case "agent_message_chunk" -> {
        if (words != null) {
          said.add(new Said.Text(null, words));
        }
      }
      case "agent_thought_chunk" -> {
        if (words != null) {
          said.add(new Said.Thinking(null, words));
        }
      }
      case "tool_call", "tool_call_update" -> {
        if (call != null) {
          call(call, update, said);
          ended(call, update, said);
        }
      }
      case "user_message_chunk", "available_commands_update", "current_mode_update" -> {}
      default -> said.add(new Said.Raw(Said.Why.UNKNOWN));
    }
  }

  private void call(String id, ObjectNode call, List<Said> said) {
    if (calls.size() < CALLS_MAX && calls.add(id)) {
      said.add(new Said.ToolCalled(null, id, tool(id, call), about(call), null));
    }
  }

  private static void ended(String id, ObjectNode call, List<Said> said) {
    var output = new StringBuilder();
    for (var part : call.path("content")) {
      output.append(textOr(part.path("content").path("text"), ""));
    }
    switch (textOr(call.path("status"), "")) {
      case "completed" ->
          said.add(
              new Said.ToolEnded(
                  null, id, Json.mapper().getNodeFactory().stringNode(output.toString()), null));
      case "failed" ->
          said.add(
              new Said.ToolEnded(null, id, null, output.isEmpty() ? "failed" : output.toString()));
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

  private void permission(JsonNode id, ObjectNode params, List<Said> said) {
    var call = object(params.path("toolCall"));
    var name = textOr(call.path("toolCallId"), "call");
    call(name, call, said);
    var about = about(call);
    var reply =
        new Rpc.Choice(
            id,
            about,
            outcome(params.path("options"), "allow_once"),
            outcome(params.path("options"), "reject_once"));
    said.add(new Said.Asked(id.toString(), tool(name, call), about, name, false, reply));
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

  private static void spent(ObjectNode result, List<Said> said) {
    for (var one : result.path("_meta").path("quota").path("model_usage")) {
      var tokens = one.path("token_count");
      var input = count(tokens.path("input_tokens"));
      var output = count(tokens.path("output_tokens"));
      if (input + output > 0) {
        var model = textOr(one.path("model"), "gemini");
        said.add(new Said.Spent(new Usage(model, input, output, null, null, null)));
      }
    }
  }

  private static Said.Ended ended(String reason) {
    return switch (reason) {
      case "end_turn" -> new Said.Ended(true, null, null);
      case "max_tokens", "max_turn_requests" ->
          new Said.Ended(
              false, null, new Said.Failure(ErrorCode.LIMIT, "the turn ended: " + reason, false));
      default ->
          new Said.Ended(
              false,
              null,
              new Said.Failure(ErrorCode.MODEL_ERROR, "the turn ended: " + reason, true));
    };
  }

  private static Said.Failure failure(ObjectNode error) {
    var details = text(error.path("data").path("details"));
    var message = details == null ? textOr(error.path("message"), "no error message") : details;
    return switch (error.path("code").asInt(0)) {
      case 401, 403, -32_000 -> new Said.Failure(ErrorCode.AUTH, message, false);
      case 429 -> new Said.Failure(ErrorCode.RATE_LIMITED, message, true);
      default -> new Said.Failure(ErrorCode.MODEL_ERROR, message, true);
    };
  }
}
