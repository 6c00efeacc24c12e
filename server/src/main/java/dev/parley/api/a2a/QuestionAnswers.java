package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.api.a2a.A2aMessageSender.MessageText;
import dev.parley.log.AppendGuard;
import dev.parley.projection.TaskTree.OpenQuestion;
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
import java.util.Objects;
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
  void answer(A2aCaller caller, A2aMessage message, A2aTaskFold fold, AppendGuard guard) {
    var open = fold.questions().stream().map(OpenQuestion::input).filter(Objects::nonNull).toList();
    if (open.isEmpty()) {
      throw A2aException.invalid(
          "the task waits for a sign-in, not for a message: status.message has the address");
    }
    var values = values(message, open);
    try {
      tasks.answer(
          fold.kagentMetadata().context(),
          values,
          answerMetadata(message),
          caller.answerer().get(),
          guard);
    } catch (Rejection.Forbidden refused) {
      throw new A2aException(
          A2aError.UNSUPPORTED_OPERATION,
          refused.getMessage() + " (" + refused.code() + "); the task still waits");
    } catch (Rejection.Conflict stale) {
      if (A2aMessageSender.isIdReuse(stale)) {
        throw A2aMessageSender.idReused(message.messageId());
      }
      throw A2aException.invalid("the question is no longer open: " + stale.getMessage());
    } catch (Rejection.Invalid misfit) {
      throw A2aException.invalid(String.valueOf(misfit.getMessage()));
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
      throw A2aException.invalid(
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
          throw A2aException.invalid(
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
        throw A2aException.invalid("approvals: approved is true or false");
      }
      var value =
          approvalValue(
              approval.path("approved").booleanValue(), approval.path("rejection_reason"));
      if (values.put(asked.inputId(), value) != null) {
        throw A2aException.invalid("approvals: " + asked.inputId() + " is answered twice");
      }
    }
    checkComplete(wanted, values);
    return values;
  }

  /// Rejects answers that do not cover all questions that were asked together.
  static void checkComplete(List<InputRequired> wanted, Map<InputId, JsonNode> values) {
    for (var asked : wanted) {
      if (!values.containsKey(asked.inputId())) {
        throw A2aException.invalid("approvals: " + asked.inputId() + " is not answered");
      }
    }
    if (values.isEmpty()) {
      throw A2aException.invalid("the task does not ask for an approval");
    }
  }

  private static Map<InputId, JsonNode> answers(JsonNode told, List<InputRequired> open) {
    var asked =
        findQuestion(
            open.stream().filter(one -> !HitlExtension.isApproval(one)).toList(),
            told.path("id").asString(""));
    if (told.path("answers").size() != 1) {
      throw A2aException.invalid("answers: exactly one answer is needed");
    }
    return Map.of(asked.inputId(), choiceValue(told.path("answers").get(0), asked));
  }

  /// The value of `{"answer": ["…"]}`.
  static JsonNode choiceValue(JsonNode answer, InputRequired asked) {
    var texts = answer.path("answer").valueStream().map(HitlExtension::displayText).toList();
    if (texts.isEmpty() || texts.stream().allMatch(String::isBlank)) {
      throw A2aException.invalid("answers: an answer is needed");
    }
    return parseText(String.join(", ", texts), asked);
  }

  /// The open question with this id, or with this tool call id.
  static InputRequired findQuestion(List<InputRequired> open, String id) {
    return open.stream()
        .filter(asked -> asked.inputId().value().equals(id) || toolCallId(asked).equals(id))
        .findFirst()
        .orElseThrow(() -> A2aException.invalid("no open question has the id '" + id + "'"));
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
            .map(content -> ((A2aPart.DataContent) content).value())
            .findFirst();
    if (data.isPresent()) {
      return data.get();
    }
    var text = MessageText.of(message).strip();
    if (text.isEmpty()) {
      throw A2aException.invalid("message.parts: an answer is needed");
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
    throw A2aException.invalid("the task asks for an approval: answer approve or deny");
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

  /// Reads answers in the format that kagent clients used before the extension: a part with a
  /// `decision_type`.
  static final class KagentDecisions {

    private static final String APPROVE = "approve";
    private static final String REJECT = "reject";

    private KagentDecisions() {}

    static Map<InputId, JsonNode> values(JsonNode data, List<InputRequired> open) {
      if (data.path("ask_user_answers").isArray() && !data.path("ask_user_answers").isEmpty()) {
        return answers(data.path("ask_user_answers"), open);
      }
      var approvals = open.stream().filter(HitlExtension::isApproval).toList();
      return switch (data.path("decision_type").asString("")) {
        case APPROVE -> all(approvals, true, data);
        case REJECT -> all(approvals, false, data);
        case "batch" -> batch(approvals, data);
        default -> throw A2aException.invalid("decision_type is approve, reject or batch");
      };
    }

    private static Map<InputId, JsonNode> answers(JsonNode given, List<InputRequired> open) {
      var questions = open.stream().filter(one -> !HitlExtension.isApproval(one)).toList();
      if (questions.size() != 1 || given.size() != 1) {
        throw A2aException.invalid("ask_user_answers: one answer to one question is needed");
      }
      var asked = questions.getFirst();
      return Map.of(asked.inputId(), choiceValue(given.get(0), asked));
    }

    private static Map<InputId, JsonNode> all(
        List<InputRequired> approvals, boolean approved, JsonNode data) {
      var values = new LinkedHashMap<InputId, JsonNode>();
      for (var asked : approvals) {
        values.put(asked.inputId(), approvalValue(approved, reason(data, asked)));
      }
      checkComplete(approvals, values);
      return values;
    }

    private static JsonNode reason(JsonNode data, InputRequired asked) {
      var reasons = data.path("rejection_reasons");
      for (var id : List.of(asked.inputId().value(), toolCallId(asked), "*")) {
        if (reasons.has(id)) {
          return reasons.path(id);
        }
      }
      return data.path("rejection_reason");
    }

    private static Map<InputId, JsonNode> batch(List<InputRequired> approvals, JsonNode data) {
      var values = new LinkedHashMap<InputId, JsonNode>();
      var decisions = data.path("decisions").isObject() ? data.path("decisions") : Json.object();
      decisions.forEachEntry(
          (id, decision) -> {
            var asked = findQuestion(approvals, id);
            var word = decision.asString("");
            if (!word.equals(APPROVE) && !word.equals(REJECT)) {
              throw A2aException.invalid("decisions: each is approve or reject");
            }
            var value = approvalValue(word.equals(APPROVE), reason(data, asked));
            if (values.put(asked.inputId(), value) != null) {
              throw A2aException.invalid("decisions: " + id + " is decided twice");
            }
          });
      checkComplete(approvals, values);
      return values;
    }
  }
}
