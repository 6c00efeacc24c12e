package dev.parley.api.a2a;

import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.ToolCallId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// Reads answers in the format that kagent clients used before the extension: a part with a
/// `decision_type`.
final class KagentDecisions {

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
      default -> throw QuestionAnswers.invalid("decision_type is approve, reject or batch");
    };
  }

  private static Map<InputId, JsonNode> answers(JsonNode given, List<InputRequired> open) {
    var questions = open.stream().filter(one -> !HitlExtension.isApproval(one)).toList();
    if (questions.size() != 1 || given.size() != 1) {
      throw QuestionAnswers.invalid("ask_user_answers: one answer to one question is needed");
    }
    var asked = questions.getFirst();
    return Map.of(asked.inputId(), QuestionAnswers.choiceValue(given.get(0), asked));
  }

  private static Map<InputId, JsonNode> all(
      List<InputRequired> approvals, boolean approved, JsonNode data) {
    var values = new LinkedHashMap<InputId, JsonNode>();
    for (var asked : approvals) {
      values.put(asked.inputId(), QuestionAnswers.approvalValue(approved, reason(data, asked)));
    }
    QuestionAnswers.checkComplete(approvals, values);
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

  private static String toolCallId(InputRequired asked) {
    return asked.facts().toolCallId().map(ToolCallId::value).orElse("");
  }

  private static Map<InputId, JsonNode> batch(List<InputRequired> approvals, JsonNode data) {
    var values = new LinkedHashMap<InputId, JsonNode>();
    var decisions = data.path("decisions").isObject() ? data.path("decisions") : Json.object();
    decisions.forEachEntry(
        (id, decision) -> {
          var asked = QuestionAnswers.findQuestion(approvals, id);
          var word = decision.asString("");
          if (!word.equals(APPROVE) && !word.equals(REJECT)) {
            throw QuestionAnswers.invalid("decisions: each is approve or reject");
          }
          var value = QuestionAnswers.approvalValue(word.equals(APPROVE), reason(data, asked));
          if (values.put(asked.inputId(), value) != null) {
            throw QuestionAnswers.invalid("decisions: " + id + " is decided twice");
          }
        });
    QuestionAnswers.checkComplete(approvals, values);
    return values;
  }
}
