package dev.parley.a2a.remote;

import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireRole;
import dev.parley.a2a.remote.RemoteStory.Question;
import dev.parley.cli.Approvals;
import dev.parley.cli.Approvals.Verdict;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Creates the message that answers the questions of a remote agent.
final class Replies {

  private static final String SIGNED_IN = "The user has signed in.";

  private Replies() {}

  /// The answer to all questions; `instead` is a user's message that replaces the answers, if any.
  static WireMessage of(RemoteStory story, String id, @Nullable String instead) {
    var questions = List.copyOf(story.questions.values());
    var approvals =
        form(questions, Inquiry.APPROVAL).stream()
            .filter(one -> story.wanted.contains(one.about().path(Inquiry.ID).asString("")))
            .toList();
    var asked = form(questions, Inquiry.QUESTION);
    if (!approvals.isEmpty()) {
      return approvals(story, id, approvals, instead);
    }
    if (!asked.isEmpty()) {
      return answers(story, id, asked, instead);
    }
    var parts = new ArrayList<WirePart>();
    if (instead != null) {
      parts.add(WirePart.text(instead));
    } else {
      questions.forEach(question -> parts.add(plain(question)));
    }
    return message(story, id, parts, null);
  }

  private static List<Question> form(List<Question> questions, String form) {
    return questions.stream()
        .filter(question -> question.about().path(Inquiry.FORM).asString("").equals(form))
        .sorted(Comparator.comparingInt(q -> q.about().path(Inquiry.INDEX).asInt(0)))
        .toList();
  }

  private static WireMessage approvals(
      RemoteStory story, String id, List<Question> questions, @Nullable String instead) {
    var payload = Json.object().put("type", "tool_approval_response");
    var list = payload.putArray("approvals");
    var words = new ArrayList<String>();
    for (var question : questions) {
      var verdict = verdict(question, instead);
      var one = list.addObject().put("id", question.about().path(Inquiry.ID).asString(""));
      switch (verdict) {
        case Verdict.Allowed _ -> {
          one.put("approved", true);
          words.add("approve");
        }
        case Verdict.Denied(var reason) -> {
          one.put("approved", false).put("rejection_reason", reason);
          words.add("deny: " + reason);
        }
      }
    }
    return message(story, id, List.of(WirePart.text(String.join("\n", words))), payload);
  }

  /// The decision. An approval with edited arguments counts as a denial, because A2A cannot express
  /// it.
  private static Verdict.Given verdict(Question question, @Nullable String instead) {
    var arguments = arguments(question);
    if (instead != null) {
      return new Verdict.Denied(instead);
    }
    if (question.reason() != null) {
      return new Verdict.Denied("the call was not approved: " + question.reason());
    }
    var verdict = Approvals.verdict(question.value(), arguments);
    return verdict instanceof Verdict.Allowed(var wanted) && !wanted.equals(arguments)
        ? new Verdict.Denied("only with these arguments: " + wanted)
        : verdict;
  }

  private static ObjectNode arguments(Question question) {
    return question.metadata().path("toolCall").path("arguments") instanceof ObjectNode arguments
        ? arguments
        : Json.object();
  }

  private static WireMessage answers(
      RemoteStory story, String id, List<Question> questions, @Nullable String instead) {
    var payload =
        Json.object()
            .put("type", "ask_user_response")
            .put("id", questions.getFirst().about().path(Inquiry.ID).asString(""));
    var list = payload.putArray("answers");
    var words = new ArrayList<String>();
    for (var question : questions) {
      var answer = list.addObject().putArray("answer");
      for (var text : texts(question, instead)) {
        answer.add(text);
        words.add(text);
      }
    }
    return message(story, id, List.of(WirePart.text(String.join("\n", words))), payload);
  }

  private static List<String> texts(Question question, @Nullable String instead) {
    if (instead != null) {
      return List.of(instead);
    }
    var value = question.value();
    if (value == null) {
      return List.of(unanswered(question));
    }
    return value.isArray() ? value.valueStream().map(Replies::text).toList() : List.of(text(value));
  }

  private static String text(JsonNode value) {
    return value.isString() ? value.asString() : value.toString();
  }

  private static WirePart plain(Question question) {
    var value = question.value();
    if (question.signIn() && question.reason() == null) {
      return WirePart.text(SIGNED_IN);
    }
    if (value == null) {
      return WirePart.text(unanswered(question));
    }
    if (question.metadata().path(Approvals.PURPOSE).asString("").equals("sign-in")) {
      return WirePart.text(
          switch (Approvals.verdict(value, Json.object())) {
            case Verdict.Allowed _ -> SIGNED_IN;
            case Verdict.Denied(var reason) -> "The user did not sign in: " + reason;
          });
    }
    return value.isContainer() ? WirePart.data(value) : WirePart.text(text(value));
  }

  private static String unanswered(Question question) {
    return "There is no answer: " + question.reason();
  }

  private static WireMessage message(
      RemoteStory story, String id, List<WirePart> parts, @Nullable ObjectNode payload) {
    var metadata = payload == null ? null : Json.object();
    if (metadata != null) {
      metadata.set(Peer.HITL, payload);
    }
    return new WireMessage(
        id,
        story.context,
        story.task,
        WireRole.USER,
        parts,
        metadata,
        payload == null ? List.of() : List.of(Peer.HITL),
        List.of());
  }
}
