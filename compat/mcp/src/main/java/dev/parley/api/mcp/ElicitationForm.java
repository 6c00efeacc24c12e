package dev.parley.api.mcp;

import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskId;
import dev.parley.task.TaskResumption.GivenAnswer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Shows the questions of a task as elicitation requests, and reads their results.
///
/// The form of an elicitation is a flat object of texts, numbers and choices.
final class ElicitationForm {

  private static final String ANSWER = "answer";
  private static final String APPROVED = "approved";
  private static final String REASON = "reason";
  private static final String DECLINED = "the user declined";
  private static final char MARK = '_';
  private static final Set<String> FLAT = Set.of("string", "number", "integer", "boolean");

  private ElicitationForm() {}

  /// The id of the request for a question. It names the task, so an answer reaches the task on any
  /// connection.
  static String requestId(TaskId root, OpenQuestion question) {
    return root.value() + MARK + question.id().value();
  }

  /// A root task and one of its questions.
  record ElicitedQuestion(TaskId root, String question) {

    static Optional<ElicitedQuestion> parse(String requestId) {
      var mark = requestId.lastIndexOf(MARK);
      var root = mark < 0 ? "" : requestId.substring(0, mark);
      return Id.valid(root)
          ? Optional.of(new ElicitedQuestion(new TaskId(root), requestId.substring(mark + 1)))
          : Optional.empty();
    }
  }

  /// The text of a question.
  static String text(OpenQuestion question) {
    var input = question.input();
    if (input == null) {
      return question.auth() == null ? "" : signIn(question.auth());
    }
    if (!isApproval(input)) {
      return input.prompt();
    }
    var text = new StringBuilder(input.prompt());
    input
        .facts()
        .toolCall()
        .ifPresent(
            call ->
                text.append("\n\n").append(call.toolName()).append(' ').append(call.arguments()));
    var preview = input.facts().shown().path("preview").asString("");
    return preview.isEmpty() ? text.toString() : text.append("\n\n").append(preview).toString();
  }

  private static String signIn(AuthRequired auth) {
    var where = auth.authUrl() == null ? "on the page of the server" : "at " + auth.authUrl();
    return auth.prompt() + "\n\nSign in " + where + ", then continue.";
  }

  static boolean isApproval(InputRequired input) {
    return input.inputType() == InputType.CONFIRMATION;
  }

  /// The parameters of `elicitation/create`.
  static ObjectNode params(OpenQuestion question) {
    var params = Json.object().put("message", text(question));
    params.set("requestedSchema", schema(question.input()));
    return params;
  }

  private static ObjectNode schema(@Nullable InputRequired input) {
    var schema = Json.object().put("type", "object");
    var properties = schema.putObject("properties");
    if (input == null) {
      return schema;
    }
    if (isApproval(input)) {
      properties.putObject(APPROVED).put("type", "boolean").put("title", "Approve");
      properties.putObject(REASON).put("type", "string").put("title", "Reason");
      schema.putArray("required").add(APPROVED);
      return schema;
    }
    if (input.schema() instanceof ObjectNode own && isFlat(own)) {
      return own;
    }
    var answer = properties.putObject(ANSWER).put("type", "string").put("title", "Answer");
    var options = input.options();
    if (options != null && !options.isEmpty()) {
      options.forEach(option -> answer.withArray("/enum").add(text(option)));
    } else if (input.schema() != null) {
      answer.put("description", "JSON that matches " + input.schema());
    }
    schema.putArray("required").add(ANSWER);
    return schema;
  }

  private static boolean isFlat(ObjectNode schema) {
    return schema.path("type").asString("").equals("object")
        && schema
            .path("properties")
            .valueStream()
            .allMatch(field -> FLAT.contains(field.path("type").asString("")));
  }

  private static String text(JsonNode option) {
    return option.asString(option.toString());
  }

  /// The answer in a client's result. A client that reports an error declines.
  static GivenAnswer answer(OpenQuestion question, JsonNode response) {
    var result = response.path("result");
    var accepted = result.path("action").asString("").equals("accept");
    var content = result.path("content");
    var input = question.input();
    if (input == null) {
      // A sign-in is completed at its address, which continues the task.
      return new GivenAnswer(question.id(), null, null, DECLINED);
    }
    if (isApproval(input)) {
      var approved = accepted && content.path(APPROVED).asBoolean(false);
      var json = Json.object().put(APPROVED, approved);
      var reason = content.path(REASON).asString(accepted ? "" : DECLINED);
      if (!reason.isBlank()) {
        json.put(REASON, reason);
      }
      return new GivenAnswer(question.id(), json, null, null);
    }
    return accepted
        ? new GivenAnswer(question.id(), value(input, content), null, null)
        : new GivenAnswer(question.id(), null, null, DECLINED);
  }

  private static JsonNode value(InputRequired input, JsonNode content) {
    return input.schema() instanceof ObjectNode own && isFlat(own)
        ? content
        : value(input, content.path(ANSWER).asString(""));
  }

  /// The answer that a text gives to a question.
  static JsonNode value(InputRequired input, String text) {
    var options = input.options() == null ? List.<JsonNode>of() : input.options();
    for (var option : options) {
      if (text(option).equalsIgnoreCase(text.strip())) {
        return option;
      }
    }
    var schema = input.schema();
    if (schema != null && !schema.path("type").asString("").equals("string")) {
      try {
        return Json.mapper().readTree(text);
      } catch (JacksonException noJson) {
        return StringNode.valueOf(text);
      }
    }
    return StringNode.valueOf(text);
  }
}
