package dev.parley.api.openai;

import dev.parley.api.openai.OpenAiFacts.QuestionForms;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What a request asks for, in either of the two APIs.
///
/// @param instructions texts of the system and of the developer
/// @param history earlier messages, oldest first
/// @param text the new message of the user; null if the request only has results
/// @param outputs results of function calls that are new
/// @param approvals answers to approval requests that are new
/// @param tools the functions that the client runs
/// @param lastAnswer the text of the last message of the assistant
record OpenAiInput(
    AgentTypeId agent,
    List<String> instructions,
    List<EarlierMessage> history,
    @Nullable String text,
    List<FunctionOutput> outputs,
    List<ApprovalResponse> approvals,
    ClientTools tools,
    String lastAnswer) {

  /// A message that the client sends again.
  record EarlierMessage(Role role, String text) {}

  /// The result of a function call.
  record FunctionOutput(String callId, String output) {

    ObjectNode item() {
      return Json.object()
          .put("type", "function_call_output")
          .put("call_id", callId)
          .put("output", output);
    }
  }

  /// The answer to an approval request.
  record ApprovalResponse(String requestId, boolean approve, @Nullable String reason) {

    ObjectNode item() {
      var item = Json.object().put("type", "mcp_approval_response");
      item.put("approval_request_id", requestId).put("approve", approve);
      return item.put("reason", reason);
    }
  }

  OpenAiInput {
    instructions = List.copyOf(instructions);
    history = List.copyOf(history);
    outputs = List.copyOf(outputs);
    approvals = List.copyOf(approvals);
  }

  /// True if the request answers a waiting task.
  boolean answers() {
    return !outputs.isEmpty() || !approvals.isEmpty();
  }

  /// The functions that the client runs, and how it wants to be asked.
  record ClientTools(List<ObjectNode> functions, QuestionForms forms) {

    private static final int TOOLS_MAX = 100;
    private static final String NAME = "[A-Za-z0-9_-]{1,64}";

    ClientTools {
      functions = List.copyOf(functions);
    }

    /// Reads `tools` and `tool_choice` of a request.
    ///
    /// @param nested whether a function is in a field of its own, as in chat completions
    /// @throws Rejection.Invalid if a tool is malformed, or is none that a client can bring along
    static ClientTools read(ObjectNode body, boolean nested) {
      var list = body.path("tools");
      if (!list.isMissingNode() && !list.isNull() && !list.isArray()) {
        throw new Rejection.Invalid("tools must be a list");
      }
      if (list.size() > TOOLS_MAX) {
        throw new Rejection.Invalid("tools has at most " + TOOLS_MAX + " entries");
      }
      var functions = new ArrayList<ObjectNode>();
      var names = new HashSet<String>();
      var mcp = false;
      var index = 0;
      for (var tool : list) {
        var path = "tools[" + index++ + "]";
        var type = tool.path("type").asString("");
        if (type.equals("mcp")
            && tool.path("server_label").asString("").equals(QuestionForm.SERVER_LABEL)) {
          mcp = true;
        } else if (type.equals("function")) {
          var function = function(nested ? tool.path("function") : tool, path);
          if (!names.add(function.path("name").asString())) {
            throw new Rejection.Invalid(path + " has the name of another tool");
          }
          functions.add(function);
        } else {
          throw new Rejection.Invalid(
              "unsupported-tool",
              path
                  + ".type must be function: the server's configuration decides which other tools"
                  + " an agent has");
        }
      }
      var forms =
          new QuestionForms(
              mcp, names.contains(QuestionForm.ASK), names.contains(QuestionForm.APPROVE));
      var reserved = Set.of(QuestionForm.ASK, QuestionForm.APPROVE);
      functions.removeIf(function -> reserved.contains(function.path("name").asString()));
      return new ClientTools(choose(body) ? functions : List.of(), forms);
    }

    private static ObjectNode function(JsonNode json, String path) {
      var name = json.path("name").asString("");
      if (!name.matches(NAME)) {
        throw new Rejection.Invalid(path + ": a name is 1 to 64 characters of A-Z a-z 0-9 _ -");
      }
      var parameters = json.path("parameters");
      if (!parameters.isObject() && !parameters.isMissingNode() && !parameters.isNull()) {
        throw new Rejection.Invalid(path + ": parameters must be a JSON Schema");
      }
      var tool = Json.object().put("name", name);
      tool.put("description", json.path("description").asString(""));
      tool.set("schema", parameters.isObject() ? parameters : Json.object().put("type", "object"));
      return tool;
    }

    /// False if the client wants no calls.
    private static boolean choose(ObjectNode body) {
      var choice = body.path("tool_choice");
      if (choice.isMissingNode() || choice.isNull()) {
        return true;
      }
      return switch (choice.asString("")) {
        case "auto" -> true;
        case "none" -> false;
        default ->
            throw new Rejection.Invalid(
                "unsupported-parameter",
                "tool_choice must be auto or none: an agent decides itself which tools it calls");
      };
    }
  }
}
