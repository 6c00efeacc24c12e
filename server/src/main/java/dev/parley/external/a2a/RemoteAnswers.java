package dev.parley.external.a2a;

import static dev.parley.external.a2a.RemoteQuestionMapper.field;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aRole;
import dev.parley.agent.TaskQuestion;
import dev.parley.agent.TaskQuestion.ApprovalDecision;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.QuestionPurpose;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Creates the message that answers the questions of a remote agent.
final class RemoteAnswers {

  private static final String SIGNED_IN = "The user has signed in.";

  private RemoteAnswers() {}

  /// The answer to all questions; `instead` is a user's message that replaces the answers, if any.
  static A2aMessage answerMessage(RemoteTaskState story, String id, @Nullable String instead) {
    var questions = List.copyOf(story.questions().values());
    var approvals =
        form(questions, RemoteQuestionMapper.APPROVAL).stream()
            .filter(one -> story.wanted.contains(field(one, RemoteQuestionMapper.ID).asString("")))
            .toList();
    var asked = form(questions, RemoteQuestionMapper.QUESTION);
    if (!approvals.isEmpty()) {
      return approvals(story, id, approvals, instead);
    }
    if (!asked.isEmpty()) {
      return answers(story, id, asked, instead);
    }
    var parts = new ArrayList<A2aPart>();
    if (instead != null) {
      parts.add(A2aPart.text(instead));
    } else {
      questions.forEach(question -> parts.add(plain(question)));
    }
    return message(story, id, parts, null);
  }

  private static List<TaskQuestion> form(List<TaskQuestion> questions, String form) {
    return questions.stream()
        .filter(question -> field(question, RemoteQuestionMapper.FORM).asString("").equals(form))
        .sorted(
            Comparator.comparingInt(
                question -> field(question, RemoteQuestionMapper.INDEX).asInt(0)))
        .toList();
  }

  private static A2aMessage approvals(
      RemoteTaskState story, String id, List<TaskQuestion> questions, @Nullable String instead) {
    var payload = Json.object().put("type", "tool_approval_response");
    var list = payload.putArray("approvals");
    var words = new ArrayList<String>();
    for (var question : questions) {
      var verdict = verdict(question, instead);
      var one = list.addObject().put("id", field(question, RemoteQuestionMapper.ID).asString(""));
      switch (verdict) {
        case ApprovalDecision.Allowed _ -> {
          one.put("approved", true);
          words.add("approve");
        }
        case ApprovalDecision.Denied(var reason) -> {
          one.put("approved", false).put("rejection_reason", reason);
          words.add("deny: " + reason);
        }
      }
    }
    return message(story, id, List.of(A2aPart.text(String.join("\n", words))), payload);
  }

  /// The decision. An approval with edited arguments counts as a denial, because A2A cannot express
  /// it.
  private static ApprovalDecision verdict(TaskQuestion question, @Nullable String instead) {
    var arguments = arguments(question);
    if (instead != null) {
      return new ApprovalDecision.Denied(instead);
    }
    var reason = question.unansweredReason();
    if (reason.isPresent()) {
      return new ApprovalDecision.Denied("the call was not approved: " + reason.get());
    }
    var verdict = question.decision(arguments);
    return verdict instanceof ApprovalDecision.Allowed(var wanted) && !wanted.equals(arguments)
        ? new ApprovalDecision.Denied("only with these arguments: " + wanted)
        : verdict;
  }

  private static ObjectNode arguments(TaskQuestion question) {
    return question
        .facts()
        .toolCall()
        .map(QuestionFacts.AskedCall::arguments)
        .orElseGet(Json::object);
  }

  private static A2aMessage answers(
      RemoteTaskState story, String id, List<TaskQuestion> questions, @Nullable String instead) {
    var payload =
        Json.object()
            .put("type", "ask_user_response")
            .put("id", field(questions.getFirst(), RemoteQuestionMapper.ID).asString(""));
    var list = payload.putArray("answers");
    var words = new ArrayList<String>();
    for (var question : questions) {
      var answer = list.addObject().putArray("answer");
      for (var text : texts(question, instead)) {
        answer.add(text);
        words.add(text);
      }
    }
    return message(story, id, List.of(A2aPart.text(String.join("\n", words))), payload);
  }

  private static List<String> texts(TaskQuestion question, @Nullable String instead) {
    if (instead != null) {
      return List.of(instead);
    }
    var value = question.value();
    if (value == null) {
      return List.of(unanswered(question));
    }
    return value.isArray()
        ? value.valueStream().map(RemoteAnswers::text).toList()
        : List.of(text(value));
  }

  private static String text(JsonNode value) {
    return value.isString() ? value.asString() : value.toString();
  }

  private static A2aPart plain(TaskQuestion question) {
    var value = question.value();
    if (question.signIn() && question.unansweredReason().isEmpty()) {
      return A2aPart.text(SIGNED_IN);
    }
    if (value == null) {
      return A2aPart.text(unanswered(question));
    }
    if (question.facts().purpose().orElse(null) == QuestionPurpose.SIGN_IN) {
      return A2aPart.text(
          switch (question.decision(Json.object())) {
            case ApprovalDecision.Allowed _ -> SIGNED_IN;
            case ApprovalDecision.Denied(var reason) -> "The user did not sign in: " + reason;
          });
    }
    return value.isContainer() ? A2aPart.data(value) : A2aPart.text(text(value));
  }

  private static String unanswered(TaskQuestion question) {
    return "There is no answer: " + question.unansweredReason().orElse(null);
  }

  private static A2aMessage message(
      RemoteTaskState story, String id, List<A2aPart> parts, @Nullable ObjectNode payload) {
    var metadata = payload == null ? null : Json.object();
    if (metadata != null) {
      metadata.set(A2aClient.HITL, payload);
    }
    return new A2aMessage(
        id,
        story.context,
        story.task,
        A2aRole.USER,
        parts,
        metadata,
        payload == null ? List.of() : List.of(A2aClient.HITL),
        List.of());
  }
}
