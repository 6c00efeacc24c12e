package dev.parley.api.a2a;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts.AskedCall;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Encodes a task's questions with kagent's human-in-the-loop (HITL) extension.
final class HitlExtension {

  /// The extension's URI.
  static final String URI = "https://kagent.dev/extensions/hitl/v1";

  static final String TYPE = "type";

  private HitlExtension() {}

  /// True if this asks for an approval.
  static boolean isApproval(InputRequired asked) {
    return asked.inputType() == InputType.CONFIRMATION;
  }

  /// All questions of the root task's tree as one request. Approvals come first because they can be
  /// sent together.
  ///
  /// Empty if no question can be answered by a message.
  static Optional<ObjectNode> request(List<TaskStateFold.A2aQuestion> asked, TaskId root) {
    var approvals = asked.stream().filter(one -> approval(one)).toList();
    if (!approvals.isEmpty()) {
      return Optional.of(approvals(approvals, root));
    }
    return asked.stream()
        .filter(one -> one.event() instanceof InputRequired)
        .findFirst()
        .map(one -> question((InputRequired) one.event()));
  }

  private static boolean approval(TaskStateFold.A2aQuestion a2aQuestion) {
    return a2aQuestion.event() instanceof InputRequired asked && isApproval(asked);
  }

  private static ObjectNode approvals(List<TaskStateFold.A2aQuestion> asked, TaskId root) {
    var request = Json.object().put(TYPE, "tool_approval_request").put("hint", hint(asked));
    var tools = request.putArray("tools");
    asked.forEach(one -> tools.add(tool((InputRequired) one.event())));
    asked.stream()
        .filter(one -> !one.task().equals(root))
        .findFirst()
        .ifPresent(below -> request.set("nested", nested(below.task(), below.agent(), asked)));
    return request;
  }

  private static String hint(List<TaskStateFold.A2aQuestion> asked) {
    return asked.size() == 1 ? ((InputRequired) asked.getFirst().event()).prompt() : "";
  }

  /// The sub-agent that asks, and its tool calls.
  private static ObjectNode nested(
      TaskId task, AgentTypeId agent, List<TaskStateFold.A2aQuestion> asked) {
    var nested = Json.object().put("subagent_name", agent.value()).put("task_id", task.value());
    var tools = nested.putArray("tools");
    asked.stream()
        .filter(one -> one.task().equals(task))
        .forEach(one -> tools.add(tool((InputRequired) one.event())));
    return nested;
  }

  private static ObjectNode tool(InputRequired asked) {
    var call = asked.facts().toolCall();
    var tool =
        Json.object()
            .put("id", asked.inputId().value())
            .put("call_id", call.map(AskedCall::id).orElse(asked.inputId().value()))
            .put("name", call.map(AskedCall::toolName).orElse(asked.prompt()));
    tool.set("args", call.map(AskedCall::arguments).orElseGet(Json::object));
    return tool;
  }

  /// The question as a function call, for kagent clients that do not support the extension.
  static ObjectNode confirmation(
      TaskStateFold.A2aQuestion a2aQuestion, InputRequired asked, TaskId root) {
    var original = Json.object();
    if (isApproval(asked)) {
      var tool = tool(asked);
      original.put("id", tool.path("call_id").asString()).set("name", tool.path("name"));
      original.set("args", tool.path("args"));
    } else {
      original.put("id", asked.inputId().value()).put("name", "ask_user");
      questions(original.putObject("args"), asked);
    }
    var args = Json.object();
    args.set("originalFunctionCall", original);
    var confirmation =
        args.putObject("toolConfirmation").put("hint", asked.prompt()).put("confirmed", false);
    if (!a2aQuestion.task().equals(root)) {
      confirmation.putObject("payload").put("subagent_name", a2aQuestion.agent().value());
    }
    var call = Json.object().put("id", asked.inputId().value());
    call.put("name", "adk_request_confirmation").set("args", args);
    return call;
  }

  private static ObjectNode question(InputRequired asked) {
    var request = Json.object().put(TYPE, "ask_user_request").put("id", asked.inputId().value());
    questions(request, asked);
    return request;
  }

  private static void questions(ObjectNode request, InputRequired asked) {
    var question = request.putArray("questions").addObject().put("question", asked.prompt());
    var choices = question.putArray("choices");
    if (asked.options() != null) {
      asked.options().forEach(option -> choices.add(displayText(option)));
    }
    question.put("multiple", false);
  }

  /// An option as display text.
  static String displayText(JsonNode option) {
    return option.isString() ? option.stringValue() : option.toString();
  }
}
