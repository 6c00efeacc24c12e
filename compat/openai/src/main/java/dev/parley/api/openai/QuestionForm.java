package dev.parley.api.openai;

import dev.parley.api.openai.OpenAiFacts.QuestionForms;
import dev.parley.api.openai.ResponseId.QuestionId;
import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts.AskedCall;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.TaskResumption.GivenAnswer;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Shows the questions of a task to clients, and reads their answers.
///
/// The client's own tools are function calls. A question for a person is text that says how to
/// answer, unless the client has declared a form that its program understands.
final class QuestionForm {

  /// The label that a client gives to an MCP tool in order to receive approvals as items.
  static final String SERVER_LABEL = "parley";

  /// The function with which a client receives questions.
  static final String ASK = "ask_user";

  /// The function with which a client receives approvals.
  static final String APPROVE = "approve_tool_call";

  private static final Set<String> YES =
      Set.of("yes", "y", "approve", "approved", "ok", "okay", "allow", "true");
  private static final Set<String> NO = Set.of("no", "n", "deny", "denied", "decline", "false");
  private static final String SKIP = "skip";
  private static final Pattern REFERENCE = Pattern.compile("Reference: ([A-Za-z0-9._:-]{1,128})$");

  private QuestionForm() {}

  /// True if the client runs this tool call.
  static boolean isToolCall(OpenQuestion question) {
    return question.input() != null && question.input().inputType() == InputType.TOOL_EXECUTION;
  }

  private static boolean isApproval(OpenQuestion question) {
    return question.input() != null && question.input().inputType() == InputType.CONFIRMATION;
  }

  /// The oldest question for a person that is shown as text.
  static Optional<OpenQuestion> firstText(List<OpenQuestion> questions, QuestionForms forms) {
    return questions.stream()
        .filter(question -> functionName(question, forms).isEmpty())
        .filter(question -> !(isApproval(question) && forms.mcpApprovals()))
        .findFirst();
  }

  /// The function that the client runs for this question, if there is one.
  static Optional<String> functionName(OpenQuestion question, QuestionForms forms) {
    var input = question.input();
    if (input == null) {
      return Optional.empty();
    }
    if (isToolCall(question)) {
      return input.facts().toolCall().map(AskedCall::toolName).or(() -> Optional.of("unknown"));
    }
    if (isApproval(question)) {
      return forms.approveFunction() && !forms.mcpApprovals()
          ? Optional.of(APPROVE)
          : Optional.empty();
    }
    return forms.askFunction() ? Optional.of(ASK) : Optional.empty();
  }

  /// Adds the open questions of a task to the output of a response. Of several texts, only the
  /// first is shown: a reply in text answers one question.
  static void write(
      ResponseOutput output, TaskId root, List<OpenQuestion> questions, QuestionForms forms) {
    for (var question : questions) {
      if (question.input() == null || !(question.id() instanceof InputId input)) {
        continue;
      }
      var id = new QuestionId(root, input);
      var function = functionName(question, forms);
      if (function.isPresent()) {
        var arguments = arguments(question, question.input()).toString();
        output.functionCall(id.text(ResponseId.CALL), function.get(), arguments);
      } else if (isApproval(question) && forms.mcpApprovals()) {
        var call = question.input().facts().toolCall().orElse(null);
        output.approvalRequest(
            id.text(ResponseId.APPROVAL),
            call == null || call.toolName() == null ? "unknown" : call.toolName(),
            call == null ? "{}" : call.arguments().toString());
      }
    }
    firstText(questions, forms)
        .ifPresent(question -> output.message(question.id().value(), text(root, question)));
  }

  private static ObjectNode arguments(OpenQuestion question, InputRequired input) {
    var call = input.facts().toolCall();
    if (isToolCall(question)) {
      return call.map(AskedCall::arguments).orElseGet(Json::object);
    }
    if (isApproval(question)) {
      var json = Json.object().put("tool", call.map(AskedCall::toolName).orElse("unknown"));
      json.put("arguments", call.map(asked -> asked.arguments().toString()).orElse("{}"));
      return json.put("question", input.prompt());
    }
    var json = Json.object().put("question", input.prompt());
    var options = json.putArray("options");
    if (input.options() != null) {
      input.options().forEach(options::add);
    }
    Json.putPresent(json, "schema", input.schema());
    return json;
  }

  /// The text of a question, with the way to answer it.
  static String text(TaskId root, OpenQuestion question) {
    var text =
        question.input() != null
            ? inputText(question, question.input())
            : question.auth() != null ? signInText(question.auth()) : "";
    return text + "\n\nReference: " + root;
  }

  private static String inputText(OpenQuestion question, InputRequired input) {
    if (isApproval(question)) {
      var text = new StringBuilder(input.prompt());
      input
          .facts()
          .toolCall()
          .ifPresent(
              call ->
                  text.append("\n\n    ")
                      .append(call.toolName())
                      .append(' ')
                      .append(call.arguments()));
      var preview = input.facts().shown().path("preview").asString("");
      if (!preview.isEmpty()) {
        text.append("\n\n").append(preview);
      }
      return text.append("\n\nReply \"yes\" to approve it. Any other reply declines it, and")
          .append(" the agent receives the reply as the reason.")
          .toString();
    }
    if (input.options() != null && !input.options().isEmpty()) {
      var text = new StringBuilder(input.prompt()).append("\n\n");
      var number = 1;
      for (var option : input.options()) {
        text.append(number++).append(". ").append(option.asString(option.toString())).append('\n');
      }
      return text.append("\nReply with an option or its number.").toString();
    }
    return input.schema() == null || isString(input.schema())
        ? input.prompt() + "\n\nYour next message is the answer."
        : input.prompt() + "\n\nReply with JSON that matches this schema: " + input.schema();
  }

  private static String signInText(AuthRequired auth) {
    var where = auth.authUrl() == null ? "on the page of this server" : "at " + auth.authUrl();
    return auth.prompt()
        + "\n\nSign in "
        + where
        + ". The agent then continues. Reply \"skip\" to continue without the sign-in.";
  }

  private static boolean isString(JsonNode schema) {
    return schema.path("type").asString("").equals("string");
  }

  /// The root task whose question this text shows, if its last line has a reference. The caller
  /// must compare the text with the question itself.
  static Optional<TaskId> reference(String text) {
    var matcher = REFERENCE.matcher(text.strip());
    return matcher.find() ? Optional.of(new TaskId(matcher.group(1))) : Optional.empty();
  }

  /// The answer that a client gives in text, or as the output of a function.
  ///
  /// @throws Rejection.Invalid if the question cannot be answered like this
  static GivenAnswer answer(OpenQuestion question, String text, ObjectNode metadata) {
    var input = question.input();
    if (input == null) {
      return signIn(question, text);
    }
    if (isToolCall(question)) {
      return new GivenAnswer(question.id(), StringNode.valueOf(text), metadata, null);
    }
    var value = isApproval(question) ? approval(text) : value(input, text);
    return new GivenAnswer(question.id(), value, metadata, null);
  }

  private static GivenAnswer signIn(OpenQuestion question, String text) {
    if (!bare(text).equals(SKIP)) {
      throw new Rejection.Invalid(
          "sign-in-needed",
          "the agent waits for a sign-in: sign in at the address that it gave, or reply \"skip\"");
    }
    return new GivenAnswer(question.id(), null, null, "skipped");
  }

  private static JsonNode approval(String text) {
    var word = bare(text);
    if (YES.contains(word)) {
      return approval(true, null);
    }
    if (json(text) instanceof ObjectNode object && object.path("approved").isBoolean()) {
      return object;
    }
    return approval(false, NO.contains(word) ? null : text.strip());
  }

  /// The answer to an approval.
  static ObjectNode approval(boolean approved, @Nullable String reason) {
    var json = Json.object().put("approved", approved);
    Json.putPresent(json, "reason", reason);
    return json;
  }

  private static String bare(String text) {
    return text.strip().replaceFirst("[.!]+$", "").toLowerCase(Locale.ROOT);
  }

  private static JsonNode value(InputRequired input, String text) {
    var bare = text.strip();
    var options = input.options();
    if (options != null) {
      for (var i = 0; i < options.size(); i++) {
        var option = options.get(i);
        if (bare.equals(Integer.toString(i + 1))
            || bare.equalsIgnoreCase(option.asString(option.toString()))) {
          return option;
        }
      }
    }
    var schema = input.schema();
    var parsed = schema == null || isString(schema) ? null : json(text);
    return parsed == null ? StringNode.valueOf(bare) : parsed;
  }

  private static @Nullable JsonNode json(String text) {
    try {
      return Json.mapper().readTree(text);
    } catch (JacksonException notJson) {
      return null;
    }
  }
}
