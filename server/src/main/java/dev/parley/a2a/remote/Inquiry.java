package dev.parley.a2a.remote;

import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
import dev.parley.agent.Questions;
import dev.parley.cli.Approvals;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.VisibleText;
import dev.parley.task.Asked;
import dev.parley.task.Run;
import dev.parley.tool.Urgency;
import dev.parley.vault.Place;
import dev.parley.vault.SignInDesk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps questions of a remote agent to events that ask a person. [Replies] writes the answers.
final class Inquiry {

  /// In a question's metadata: the form of the remote question, its id, and its index among
  /// several.
  static final String FORM = "form";

  static final String ID = "id";
  static final String INDEX = "index";

  /// In a question's metadata: the id of the remote message that asks.
  static final String NAME = "messageId";

  /// Form: approval of a tool call.
  static final String APPROVAL = "approval";

  /// Form: a question of the HITL extension.
  static final String QUESTION = "question";

  /// Form: plain text.
  static final String WORDS = "words";

  private static final int QUESTIONS_MAX = 50;
  private static final int PROMPT_MAX = 10_000;

  private final Run run;
  private final RemoteStory story;
  private final RemoteSettings settings;
  private final Duration patience;
  private final SignInDesk desk;
  private String name = "";

  Inquiry(Run run, RemoteStory story, RemoteSettings settings, Duration patience, SignInDesk desk) {
    this.run = run;
    this.story = story;
    this.settings = settings;
    this.patience = patience;
    this.desk = desk;
  }

  /// The events that ask a person what the agent waits for.
  List<Event> ask(WireStatus status) throws Trouble, InterruptedException {
    name = name(status);
    var message = status.message();
    var words = message == null ? "" : shortened(Teller.words(message.parts()).strip());
    if (status.state() == WireState.AUTH_REQUIRED) {
      var where = message == null ? "" : where(message);
      return List.of(where.isEmpty() ? signIn(words) : visit(words, where));
    }
    var payload = payload(message);
    return switch (payload.path("type").asString("")) {
      case "tool_approval_request" -> approvals(payload, words);
      case "ask_user_request" -> questions(payload, words);
      default -> List.of(plain(words));
    };
  }

  /// The id of the agent's question; empty if it has none.
  static String name(WireStatus status) {
    return Optional.ofNullable(status.message()).map(WireMessage::messageId).orElse("");
  }

  private static JsonNode payload(@Nullable WireMessage message) {
    var metadata = message == null ? null : message.metadata();
    return metadata == null ? Json.object() : metadata.path(Peer.HITL);
  }

  private List<Event> approvals(JsonNode payload, String words) throws Trouble {
    var tools = payload.path("tools");
    if (tools.isEmpty()) {
      tools = payload.path("nested").path("tools");
    }
    if (tools.isEmpty() || tools.size() > QUESTIONS_MAX) {
      throw Trouble.unusable("it asks for " + tools.size() + " approvals at once");
    }
    var asked = new ArrayList<Event>();
    var state = Json.object();
    var wanted = state.putObject(RemoteStory.STATE).putArray(RemoteStory.WANTED);
    for (var tool : tools) {
      var id = tool.path("id").asString("");
      wanted.add(id);
      // An approval that was already given, but could not be sent alone, is not asked again.
      if (story.questions.values().stream().noneMatch(known -> isFor(known, id))) {
        asked.add(approval(tool, payload.path("hint").asString(words)));
      }
    }
    asked.addFirst(new InternalCheckpoint(0, state));
    return asked;
  }

  static boolean isApproval(RemoteStory.Question question) {
    return question.about().path(FORM).asString("").equals(APPROVAL);
  }

  private static boolean isFor(RemoteStory.Question question, String id) {
    return isApproval(question) && question.about().path(ID).asString("").equals(id);
  }

  private InputRequired approval(JsonNode tool, String hint) {
    var name = tool.path("name").asString("tool");
    var arguments = tool.path("args") instanceof ObjectNode object ? object : Json.object();
    var metadata = about(APPROVAL, tool.path("id").asString(""), 0);
    metadata.put(Approvals.PURPOSE, "approval");
    var call = metadata.putObject("toolCall");
    var known = story.calls.get(tool.path("call_id").asString(""));
    if (known != null) {
      metadata.put(Asked.TOOL_CALL_ID, known.toolCallId().value());
      call.put(Asked.TOOL_CALL_ID, known.toolCallId().value());
    }
    call.put("toolName", name).set("arguments", arguments);
    metadata.put(Questions.HASH, Questions.hash(name, arguments)).put("effect", "at-most-once");
    metadata.put(
        Questions.SUMMARY, "Lets the remote agent call " + shortened(name) + " on its own system");
    if (!hint.isBlank()) {
      metadata.put("hint", shortened(hint));
    }
    return required(
        InputType.CONFIRMATION,
        "May " + run.origin().agentId() + " call " + shortened(name) + "?",
        null,
        null,
        metadata);
  }

  private List<Event> questions(JsonNode payload, String words) throws Trouble {
    var questions = payload.path("questions");
    if (questions.isEmpty() || questions.size() > QUESTIONS_MAX) {
      throw Trouble.unusable("it asks " + questions.size() + " questions at once");
    }
    var asked = new ArrayList<Event>();
    for (var question : questions) {
      var metadata = about(QUESTION, payload.path("id").asString(""), asked.size());
      var prompt = shortened(question.path("question").asString(words));
      var choices = question.path("choices").valueStream().toList();
      var several = question.path("multiple").asBoolean(false);
      if (choices.isEmpty()) {
        asked.add(required(InputType.CLARIFICATION, prompt, null, null, metadata));
      } else if (several) {
        var schema = Json.object().put("type", "array");
        schema.putObject("items").putArray("enum").addAll(choices);
        asked.add(required(InputType.SELECTION, prompt, schema, null, metadata));
      } else {
        asked.add(required(InputType.SELECTION, prompt, null, choices, metadata));
      }
    }
    return asked;
  }

  private InputRequired plain(String words) {
    return required(
        InputType.CLARIFICATION,
        words.isEmpty() ? run.origin().agentId() + " needs to know more" : words,
        null,
        null,
        about(WORDS, "", 0));
  }

  private ObjectNode about(String form, String id, int index) {
    var metadata = Json.object();
    metadata
        .putObject(RemoteStory.STATE)
        .put(FORM, form)
        .put(ID, id)
        .put(INDEX, index)
        .put(NAME, name);
    return metadata;
  }

  private InputRequired required(
      InputType type,
      String prompt,
      @Nullable ObjectNode schema,
      @Nullable List<JsonNode> options,
      ObjectNode metadata) {
    metadata.put("provider", RemoteStory.STATE).put("timeout", patience.toSeconds());
    metadata.put(Urgency.KEY, Urgency.of(run.created().priority()).wire());
    return new InputRequired(
        new InputId(run.sources().ids().get()),
        true,
        type,
        VisibleText.of(prompt),
        schema,
        options,
        metadata,
        run.sources().clock().instant().plus(patience));
  }

  /// The address to sign in at; empty if the agent gives none.
  private static String where(WireMessage message) {
    for (var part : message.parts()) {
      if (part.content() instanceof WirePart.Data(var data) && data.path("authUrl").isString()) {
        return data.path("authUrl").asString();
      }
    }
    return "";
  }

  /// Asks the user to sign in at an address and to confirm it.
  private InputRequired visit(String words, String where) {
    var metadata = about(WORDS, "", 0);
    metadata.put(Approvals.PURPOSE, "sign-in").put("authUrl", where);
    var prompt = words.contains(where) ? words : words + "\n" + where;
    return required(
        InputType.CONFIRMATION,
        prompt.strip() + "\nHave you signed in there?",
        null,
        null,
        metadata);
  }

  /// Asks the user for credentials, which are stored and sent to the agent's host from then on.
  private AuthRequired signIn(String words) throws Trouble, InterruptedException {
    var id = new AuthId(run.sources().ids().get());
    var expiresAt = run.sources().clock().instant().plus(patience);
    var metadata = about(WORDS, "", 0).put("expiresIn", patience.toSeconds());
    metadata.put("host", settings.host());
    try {
      var invitation =
          desk.invite(
              new SignInDesk.Wanted(
                  new Place(run.context(), id),
                  run.owner(),
                  AuthType.CUSTOM,
                  settings.host(),
                  List.of(),
                  null,
                  null,
                  expiresAt));
      metadata.setAll(invitation.metadata());
    } catch (Rejection.Invalid impossible) {
      throw Trouble.unusable(
          "it requires a sign-in, which is not possible: " + impossible.getMessage());
    }
    return new AuthRequired(
        id,
        AuthType.CUSTOM,
        settings.host(),
        null,
        words.isEmpty() ? run.origin().agentId() + " wants you to sign in" : VisibleText.of(words),
        null,
        metadata,
        expiresAt);
  }

  private static String shortened(String text) {
    return text.length() <= PROMPT_MAX ? text : text.substring(0, PROMPT_MAX) + "…";
  }
}
