package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.Tasks;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Maps a message to answers to the open questions of its task.
///
/// A message that is not clearly an answer is rejected, and the question stays open: nothing is
/// approved by guessing.
final class QuestionAnswers {

  private static final Set<String> YES =
      Set.of("approve", "approved", "yes", "y", "ok", "okay", "true", "allow");
  private static final Set<String> NO =
      Set.of("deny", "denied", "no", "n", "reject", "rejected", "false", "disallow");

  private final Tasks tasks;

  QuestionAnswers(Tasks tasks) {
    this.tasks = tasks;
  }

  /// Answers the open questions of the task with this message.
  ///
  /// @throws A2aException if the message is not an answer to them
  void answer(A2aCaller a2aCaller, A2aMessage message, A2aTaskFold fold, AppendGuard appendGuard) {
    var open =
        fold.questions().stream()
            .map(TaskStateFold.A2aQuestion::event)
            .filter(InputRequired.class::isInstance)
            .map(InputRequired.class::cast)
            .toList();
    if (open.isEmpty()) {
      throw invalid(
          "the task waits for a sign-in, not for a message: status.message has the address");
    }
    var values = values(message, open);
    try {
      tasks.answer(
          fold.kagentMetadata().context(),
          values,
          answerMetadata(message),
          a2aCaller.answerer().get(),
          appendGuard);
    } catch (Rejection.Forbidden refused) {
      throw new A2aException(
          A2aError.UNSUPPORTED_OPERATION,
          refused.getMessage() + " (" + refused.code() + "); the task still waits");
    } catch (Rejection.Conflict stale) {
      if (A2aMessageSender.isIdReuse(stale)) {
        throw A2aMessageSender.idReused(message.messageId());
      }
      throw invalid("the question is no longer open: " + stale.getMessage());
    } catch (Rejection.Invalid misfit) {
      throw invalid(String.valueOf(misfit.getMessage()));
    }
  }

  private static ObjectNode answerMetadata(A2aMessage message) {
    var label = A2aMessageSender.messageMetadata(message);
    var kept =
        label == null ? Json.object() : (ObjectNode) label.path(A2aMessageMapper.METADATA_KEY);
    kept.put("messageId", message.messageId());
    var parts = kept.putArray("parts");
    message.parts().forEach(part -> parts.add(A2aEncoders.V1_0.part(part)));
    return Json.object().set(A2aMessageMapper.METADATA_KEY, kept);
  }

  private static Map<InputId, JsonNode> values(A2aMessage message, List<InputRequired> open) {
    var payload = message.metadata() == null ? null : message.metadata().get(HitlExtension.URI);
    if (payload instanceof ObjectNode told) {
      return extensionValues(told, open);
    }
    for (var part : message.parts()) {
      if (part.content() instanceof A2aPart.DataContent(var data)) {
        if (data.has("decision_type")) {
          return KagentDecisions.values(data, open);
        }
        if (data.path(HitlExtension.TYPE).asString("").endsWith("_response")) {
          return extensionValues(data, open);
        }
      }
    }
    if (open.size() > 1) {
      throw invalid(
          "the task asks several questions; answer with the extension "
              + HitlExtension.URI
              + " and these ids: "
              + open.stream().map(one -> one.inputId().value()).collect(Collectors.joining(", ")));
    }
    var asked = open.getFirst();
    return Map.of(asked.inputId(), plainAnswer(message, asked));
  }

  private static Map<InputId, JsonNode> extensionValues(JsonNode told, List<InputRequired> open) {
    return switch (told.path(HitlExtension.TYPE).asString("")) {
      case "tool_approval_response" -> approvals(told, open);
      case "ask_user_response" -> answers(told, open);
      default ->
          throw invalid(
              HitlExtension.URI + ": type is tool_approval_response or ask_user_response");
    };
  }

  /// Reads the approvals: exactly one for each open question.
  private static Map<InputId, JsonNode> approvals(JsonNode told, List<InputRequired> open) {
    var wanted = open.stream().filter(HitlExtension::isApproval).toList();
    var values = new LinkedHashMap<InputId, JsonNode>();
    for (var approval : told.path("approvals")) {
      var asked = findQuestion(wanted, approval.path("id").asString(""));
      if (!approval.path("approved").isBoolean()) {
        throw invalid("approvals: approved is true or false");
      }
      var value =
          approvalValue(
              approval.path("approved").booleanValue(), approval.path("rejection_reason"));
      if (values.put(asked.inputId(), value) != null) {
        throw invalid("approvals: " + asked.inputId() + " is answered twice");
      }
    }
    checkComplete(wanted, values);
    return values;
  }

  /// Rejects answers that do not cover all questions that were asked together.
  static void checkComplete(List<InputRequired> wanted, Map<InputId, JsonNode> values) {
    for (var asked : wanted) {
      if (!values.containsKey(asked.inputId())) {
        throw invalid("approvals: " + asked.inputId() + " is not answered");
      }
    }
    if (values.isEmpty()) {
      throw invalid("the task does not ask for an approval");
    }
  }

  private static Map<InputId, JsonNode> answers(JsonNode told, List<InputRequired> open) {
    var asked =
        findQuestion(
            open.stream().filter(one -> !HitlExtension.isApproval(one)).toList(),
            told.path("id").asString(""));
    if (told.path("answers").size() != 1) {
      throw invalid("answers: exactly one answer is needed");
    }
    return Map.of(asked.inputId(), choiceValue(told.path("answers").get(0), asked));
  }

  /// The value of `{"answer": ["…"]}`.
  static JsonNode choiceValue(JsonNode answer, InputRequired asked) {
    var texts = answer.path("answer").valueStream().map(HitlExtension::displayText).toList();
    if (texts.isEmpty() || texts.stream().allMatch(String::isBlank)) {
      throw invalid("answers: an answer is needed");
    }
    return parseText(String.join(", ", texts), asked);
  }

  /// The open question with this id, or with this tool call id.
  static InputRequired findQuestion(List<InputRequired> open, String id) {
    return open.stream()
        .filter(asked -> asked.inputId().value().equals(id) || toolCallId(asked).equals(id))
        .findFirst()
        .orElseThrow(() -> invalid("no open question has the id '" + id + "'"));
  }

  private static String toolCallId(InputRequired asked) {
    return asked.facts().toolCallId().map(ToolCallId::value).orElse("");
  }

  static JsonNode approvalValue(boolean approved, JsonNode reason) {
    if (approved) {
      return BooleanNode.TRUE;
    }
    var value = Json.object().put("approved", false);
    if (reason.isString() && !reason.stringValue().isBlank()) {
      value.put("reason", reason.stringValue());
    }
    return value;
  }

  /// The answer to the only open question, from the message's data or text.
  private static JsonNode plainAnswer(A2aMessage message, InputRequired asked) {
    var data =
        message.parts().stream()
            .map(A2aPart::content)
            .filter(A2aPart.DataContent.class::isInstance)
            .map(partContent -> ((A2aPart.DataContent) partContent).value())
            .findFirst();
    if (data.isPresent()) {
      return data.get();
    }
    var text = MessageText.of(message).strip();
    if (text.isEmpty()) {
      throw invalid("message.parts: an answer is needed");
    }
    if (HitlExtension.isApproval(asked)) {
      return parseApproval(text);
    }
    return parseText(text, asked);
  }

  private static JsonNode parseApproval(String text) {
    var end = text.length();
    while (end > 0 && (text.charAt(end - 1) == '.' || text.charAt(end - 1) == '!')) {
      end--;
    }
    var word = text.substring(0, end).toLowerCase(Locale.ROOT);
    if (YES.contains(word)) {
      return BooleanNode.TRUE;
    }
    if (NO.contains(word)) {
      return approvalValue(false, Json.object().path("reason"));
    }
    throw invalid("the task asks for an approval: answer approve or deny");
  }

  /// Converts text to the value that is asked for: one of the options, JSON if there is a schema,
  /// or else the text itself.
  private static JsonNode parseText(String text, InputRequired asked) {
    if (asked.options() != null) {
      for (var option : asked.options()) {
        if (HitlExtension.displayText(option).equalsIgnoreCase(text)) {
          return option;
        }
      }
    }
    return asked.schema() == null
        ? StringNode.valueOf(text)
        : json(text).orElseGet(() -> StringNode.valueOf(text));
  }

  private static Optional<JsonNode> json(String text) {
    try {
      return Optional.of(Json.mapper().readTree(text));
    } catch (JacksonException words) {
      return Optional.empty();
    }
  }

  static A2aException invalid(String message) {
    return new A2aException(A2aError.INVALID_PARAMS, message);
  }
}
