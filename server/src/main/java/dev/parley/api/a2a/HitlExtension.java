package dev.parley.api.a2a;

import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.QuestionFacts.AskedCall;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
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
  static Optional<ObjectNode> request(List<OpenQuestion> asked, TaskId root) {
    var approvals = asked.stream().filter(one -> inputs(one).anyMatch(HitlExtension::isApproval));
    var all = approvals.toList();
    return all.isEmpty()
        ? asked.stream().flatMap(HitlExtension::inputs).findFirst().map(HitlExtension::question)
        : Optional.of(approvals(all, root));
  }

  private static Stream<InputRequired> inputs(OpenQuestion asked) {
    return Stream.ofNullable(asked.input());
  }

  private static ObjectNode approvals(List<OpenQuestion> asked, TaskId root) {
    var inputs = asked.stream().flatMap(HitlExtension::inputs).toList();
    var hint = inputs.size() == 1 ? inputs.getFirst().prompt() : "";
    var request = Json.object().put(TYPE, "tool_approval_request").put("hint", hint);
    inputs.forEach(input -> request.withArray("/tools").add(tool(input)));
    asked.stream()
        .map(OpenQuestion::origin)
        .filter(origin -> !origin.taskId().equals(root))
        .findFirst()
        .ifPresent(below -> request.set("nested", nested(below, asked)));
    return request;
  }

  /// The sub-agent that asks, and its tool calls.
  private static ObjectNode nested(Origin below, List<OpenQuestion> asked) {
    var nested = Json.object().put("subagent_name", below.agentId().value());
    nested.put("task_id", below.taskId().value());
    asked.stream()
        .filter(one -> one.origin().taskId().equals(below.taskId()))
        .flatMap(HitlExtension::inputs)
        .forEach(input -> nested.withArray("/tools").add(tool(input)));
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
  static ObjectNode confirmation(Origin origin, InputRequired asked, TaskId root) {
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
    if (!origin.taskId().equals(root)) {
      confirmation.putObject("payload").put("subagent_name", origin.agentId().value());
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
