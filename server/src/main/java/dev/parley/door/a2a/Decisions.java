package dev.parley.door.a2a;

import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// Reads answers in the format that kagent clients used before the extension: a part with a
/// `decision_type`.
final class Decisions {

  private static final String APPROVE = "approve";
  private static final String REJECT = "reject";

  private Decisions() {}

  static Map<InputId, JsonNode> values(JsonNode data, List<InputRequired> open) {
    if (data.path("ask_user_answers").isArray() && !data.path("ask_user_answers").isEmpty()) {
      return answers(data.path("ask_user_answers"), open);
    }
    var approvals = open.stream().filter(Hitl::isApproval).toList();
    return switch (data.path("decision_type").asString("")) {
      case APPROVE -> all(approvals, true, data);
      case REJECT -> all(approvals, false, data);
      case "batch" -> batch(approvals, data);
      default -> throw Answering.invalid("decision_type is approve, reject or batch");
    };
  }

  private static Map<InputId, JsonNode> answers(JsonNode given, List<InputRequired> open) {
    var questions = open.stream().filter(one -> !Hitl.isApproval(one)).toList();
    if (questions.size() != 1 || given.size() != 1) {
      throw Answering.invalid("ask_user_answers: one answer to one question is needed");
    }
    var asked = questions.getFirst();
    return Map.of(asked.inputId(), Answering.chosen(given.get(0), asked));
  }

  private static Map<InputId, JsonNode> all(
      List<InputRequired> approvals, boolean approved, JsonNode data) {
    var values = new LinkedHashMap<InputId, JsonNode>();
    for (var asked : approvals) {
      values.put(asked.inputId(), Answering.decided(approved, reason(data, asked)));
    }
    Answering.checkAll(approvals, values);
    return values;
  }

  private static JsonNode reason(JsonNode data, InputRequired asked) {
    var reasons = data.path("rejection_reasons");
    for (var id : List.of(asked.inputId().value(), call(asked), "*")) {
      if (reasons.has(id)) {
        return reasons.path(id);
      }
    }
    return data.path("rejection_reason");
  }

  private static String call(InputRequired asked) {
    return asked.metadata() == null ? "" : asked.metadata().path("toolCallId").asString("");
  }

  private static Map<InputId, JsonNode> batch(List<InputRequired> approvals, JsonNode data) {
    var values = new LinkedHashMap<InputId, JsonNode>();
    var decisions = data.path("decisions").isObject() ? data.path("decisions") : Json.object();
    decisions.forEachEntry(
        (id, decision) -> {
          var asked = Answering.named(approvals, id);
          var word = decision.asString("");
          if (!word.equals(APPROVE) && !word.equals(REJECT)) {
            throw Answering.invalid("decisions: each is approve or reject");
          }
          var value = Answering.decided(word.equals(APPROVE), reason(data, asked));
          if (values.put(asked.inputId(), value) != null) {
            throw Answering.invalid("decisions: " + id + " is decided twice");
          }
        });
    Answering.checkAll(approvals, values);
    return values;
  }
}
