package dev.parley.external.a2a;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aRole;
import dev.parley.external.a2a.RemoteTaskState.RemoteQuestion;
import dev.parley.external.cli.Approvals;
import dev.parley.external.cli.Approvals.ApprovalDecision;
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
    var questions = List.copyOf(story.questions.values());
    var approvals =
        form(questions, RemoteQuestionMapper.APPROVAL).stream()
            .filter(
                one ->
                    story.wanted.contains(
                        one.remoteMetadata().path(RemoteQuestionMapper.ID).asString("")))
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
      questions.forEach(remoteQuestion -> parts.add(plain(remoteQuestion)));
    }
    return message(story, id, parts, null);
  }

  private static List<RemoteQuestion> form(List<RemoteQuestion> questions, String form) {
    return questions.stream()
        .filter(
            remoteQuestion ->
                remoteQuestion
                    .remoteMetadata()
                    .path(RemoteQuestionMapper.FORM)
                    .asString("")
                    .equals(form))
        .sorted(
            Comparator.comparingInt(
                q -> q.remoteMetadata().path(RemoteQuestionMapper.INDEX).asInt(0)))
        .toList();
  }

  private static A2aMessage approvals(
      RemoteTaskState story, String id, List<RemoteQuestion> questions, @Nullable String instead) {
    var payload = Json.object().put("type", "tool_approval_response");
    var list = payload.putArray("approvals");
    var words = new ArrayList<String>();
    for (var remoteQuestion : questions) {
      var verdict = verdict(remoteQuestion, instead);
      var one =
          list.addObject()
              .put(
                  "id", remoteQuestion.remoteMetadata().path(RemoteQuestionMapper.ID).asString(""));
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
  private static ApprovalDecision.FinalDecision verdict(
      RemoteQuestion remoteQuestion, @Nullable String instead) {
    var arguments = arguments(remoteQuestion);
    if (instead != null) {
      return new ApprovalDecision.Denied(instead);
    }
    if (remoteQuestion.reason() != null) {
      return new ApprovalDecision.Denied("the call was not approved: " + remoteQuestion.reason());
    }
    var verdict = Approvals.decisionOf(remoteQuestion.value(), arguments);
    return verdict instanceof ApprovalDecision.Allowed(var wanted) && !wanted.equals(arguments)
        ? new ApprovalDecision.Denied("only with these arguments: " + wanted)
        : verdict;
  }

  private static ObjectNode arguments(RemoteQuestion remoteQuestion) {
    return remoteQuestion
        .facts()
        .toolCall()
        .map(QuestionFacts.AskedCall::arguments)
        .orElseGet(Json::object);
  }

  private static A2aMessage answers(
      RemoteTaskState story, String id, List<RemoteQuestion> questions, @Nullable String instead) {
    var payload =
        Json.object()
            .put("type", "ask_user_response")
            .put(
                "id",
                questions.getFirst().remoteMetadata().path(RemoteQuestionMapper.ID).asString(""));
    var list = payload.putArray("answers");
    var words = new ArrayList<String>();
    for (var remoteQuestion : questions) {
      var answer = list.addObject().putArray("answer");
      for (var text : texts(remoteQuestion, instead)) {
        answer.add(text);
        words.add(text);
      }
    }
    return message(story, id, List.of(A2aPart.text(String.join("\n", words))), payload);
  }

  private static List<String> texts(RemoteQuestion remoteQuestion, @Nullable String instead) {
    if (instead != null) {
      return List.of(instead);
    }
    var value = remoteQuestion.value();
    if (value == null) {
      return List.of(unanswered(remoteQuestion));
    }
    return value.isArray()
        ? value.valueStream().map(RemoteAnswers::text).toList()
        : List.of(text(value));
  }

  private static String text(JsonNode value) {
    return value.isString() ? value.asString() : value.toString();
  }

  private static A2aPart plain(RemoteQuestion remoteQuestion) {
    var value = remoteQuestion.value();
    if (remoteQuestion.signIn() && remoteQuestion.reason() == null) {
      return A2aPart.text(SIGNED_IN);
    }
    if (value == null) {
      return A2aPart.text(unanswered(remoteQuestion));
    }
    if (remoteQuestion.facts().purpose().orElse(null) == QuestionPurpose.SIGN_IN) {
      return A2aPart.text(
          switch (Approvals.decisionOf(value, Json.object())) {
            case ApprovalDecision.Allowed _ -> SIGNED_IN;
            case ApprovalDecision.Denied(var reason) -> "The user did not sign in: " + reason;
          });
    }
    return value.isContainer() ? A2aPart.data(value) : A2aPart.text(text(value));
  }

  private static String unanswered(RemoteQuestion remoteQuestion) {
    return "There is no answer: " + remoteQuestion.reason();
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
