package dev.parley.external.a2a;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.agent.QuestionFactory;
import dev.parley.agent.TaskQuestion;
import dev.parley.auth.SignInRequests;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.QuestionPurpose;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskRun;
import dev.parley.tool.ToolQuestion;
import dev.parley.tool.ToolResult.ToolSignIn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Maps questions of a remote agent to events that ask a person. [RemoteAnswers] writes the answers.
final class RemoteQuestionMapper {

  /// In a question's metadata: the form of the remote question, its id, and its index among
  /// several.
  static final String FORM = "form";

  static final String ID = "id";
  static final String INDEX = "index";

  /// In a question's metadata: the id of the remote message that asks.
  static final String MESSAGE_ID = "messageId";

  /// Form: approval of a tool call.
  static final String APPROVAL = "approval";

  /// Form: a question of the HITL extension.
  static final String QUESTION = "question";

  /// Form: plain text.
  static final String TEXT = "words";

  private static final int QUESTIONS_MAX = 50;
  private static final int PROMPT_MAX = 10_000;

  private final TaskRun taskRun;
  private final RemoteTaskState remoteState;
  private final A2aRemoteSettings settings;
  private final Duration timeout;
  private final QuestionFactory questions;
  private String questionId = "";

  RemoteQuestionMapper(
      TaskRun taskRun,
      RemoteTaskState story,
      A2aRemoteSettings settings,
      Duration patience,
      SignInRequests desk) {
    this.taskRun = taskRun;
    this.remoteState = story;
    this.settings = settings;
    this.timeout = patience;
    this.questions = new QuestionFactory(taskRun, patience, desk, RemoteTaskState.STATE);
  }

  /// The events that ask a person what the agent waits for.
  List<Event> questionEvents(A2aStatus status) throws A2aFailure, InterruptedException {
    questionId = questionId(status);
    var message = status.message();
    var words = message == null ? "" : shortened(RemoteEventWriter.textOf(message.parts()).strip());
    if (status.state() == A2aState.AUTH_REQUIRED) {
      var where = message == null ? "" : authUrl(message);
      return List.of(where.isEmpty() ? signIn(words) : confirmSignIn(words, where));
    }
    var payload = payload(message);
    return switch (payload.path("type").asString("")) {
      case "tool_approval_request" -> approvals(payload, words);
      case "ask_user_request" -> questions(payload, words);
      default -> List.of(textQuestion(words));
    };
  }

  /// The id of the agent's question; empty if it has none.
  static String questionId(A2aStatus status) {
    return Optional.ofNullable(status.message()).map(A2aMessage::messageId).orElse("");
  }

  private static JsonNode payload(@Nullable A2aMessage message) {
    var metadata = message == null ? null : message.metadata();
    return metadata == null ? Json.object() : metadata.path(A2aClient.HITL);
  }

  private List<Event> approvals(JsonNode payload, String words) throws A2aFailure {
    var tools = payload.path("tools");
    if (tools.isEmpty()) {
      tools = payload.path("nested").path("tools");
    }
    if (tools.isEmpty() || tools.size() > QUESTIONS_MAX) {
      throw A2aFailure.unusable("it asks for " + tools.size() + " approvals at once");
    }
    var asked = new ArrayList<Event>();
    var state = Json.object();
    var wanted = state.putObject(RemoteTaskState.STATE).putArray(RemoteTaskState.WANTED);
    for (var tool : tools) {
      var id = tool.path("id").asString("");
      wanted.add(id);
      // An approval that was already given, but could not be sent alone, is not asked again.
      if (remoteState.questions().values().stream().noneMatch(known -> isFor(known, id))) {
        asked.add(approval(tool, payload.path("hint").asString(words)));
      }
    }
    asked.addFirst(new InternalCheckpoint(0, state));
    return asked;
  }

  /// The value of this field of the remote question.
  static JsonNode field(TaskQuestion question, String name) {
    return question.facts().extension(RemoteTaskState.STATE).orElseGet(Json::object).path(name);
  }

  static boolean isApproval(TaskQuestion question) {
    return field(question, FORM).asString("").equals(APPROVAL);
  }

  private static boolean isFor(TaskQuestion question, String id) {
    return isApproval(question) && field(question, ID).asString("").equals(id);
  }

  /// True if the agent, given this status, still asks the open questions. A question without an id
  /// may be another one.
  static boolean asksStill(RemoteTaskState remoteState, A2aStatus status) {
    return status.state().interrupted()
        && remoteState.questions().values().stream()
            .filter(TaskQuestion::open)
            .map(question -> field(question, MESSAGE_ID).asString(""))
            .allMatch(id -> id.isEmpty() || id.equals(questionId(status)));
  }

  private InputRequired approval(JsonNode tool, String hint) {
    var name = tool.path("name").asString("tool");
    var arguments = tool.path("args") instanceof ObjectNode object ? object : Json.object();
    var metadata = metadata(APPROVAL, tool.path("id").asString(""), 0);
    QuestionFactory.putExternalCall(
        metadata,
        remoteState
            .openCall(tool.path("call_id").asString(""))
            .map(ToolStart::toolCallId)
            .orElse(null),
        new QuestionFactory.ExternalCall(
            name,
            arguments,
            true,
            "Lets the remote agent call " + shortened(name) + " on its own system"));
    if (!hint.isBlank()) {
      metadata.put("hint", shortened(hint));
    }
    return questions.approval(shortened(name), metadata);
  }

  private List<Event> questions(JsonNode payload, String words) throws A2aFailure {
    var questions = payload.path("questions");
    if (questions.isEmpty() || questions.size() > QUESTIONS_MAX) {
      throw A2aFailure.unusable("it asks " + questions.size() + " questions at once");
    }
    var asked = new ArrayList<Event>();
    for (var question : questions) {
      var metadata = metadata(QUESTION, payload.path("id").asString(""), asked.size());
      var prompt = shortened(question.path("question").asString(words));
      var choices = question.path("choices").valueStream().toList();
      var several = question.path("multiple").asBoolean(false);
      if (choices.isEmpty()) {
        asked.add(question(InputType.CLARIFICATION, prompt, null, List.of(), metadata));
      } else if (several) {
        var schema = Json.object().put("type", "array");
        schema.putObject("items").putArray("enum").addAll(choices);
        asked.add(question(InputType.SELECTION, prompt, schema, List.of(), metadata));
      } else {
        asked.add(question(InputType.SELECTION, prompt, null, choices, metadata));
      }
    }
    return asked;
  }

  private InputRequired textQuestion(String words) {
    return question(
        InputType.CLARIFICATION,
        words.isEmpty() ? taskRun.origin().agentId() + " needs to know more" : words,
        null,
        List.of(),
        metadata(TEXT, "", 0));
  }

  private ObjectNode metadata(String form, String id, int index) {
    var metadata = Json.object();
    metadata
        .putObject(RemoteTaskState.STATE)
        .put(FORM, form)
        .put(ID, id)
        .put(INDEX, index)
        .put(MESSAGE_ID, questionId);
    return metadata;
  }

  private InputRequired question(
      InputType type,
      String prompt,
      @Nullable ObjectNode schema,
      List<JsonNode> options,
      ObjectNode metadata) {
    return questions.question(
        new ToolQuestion(type, prompt, schema, options, true, null, metadata));
  }

  /// The address to sign in at; empty if the agent gives none.
  private static String authUrl(A2aMessage message) {
    for (var part : message.parts()) {
      if (part.content() instanceof A2aPart.DataContent(var data)
          && data.path("authUrl").isString()) {
        return data.path("authUrl").asString();
      }
    }
    return "";
  }

  /// Asks the user to sign in at an address and to confirm it.
  private InputRequired confirmSignIn(String words, String where) {
    var metadata = metadata(TEXT, "", 0);
    QuestionFacts.putPurpose(metadata, QuestionPurpose.SIGN_IN);
    metadata.put("authUrl", where);
    var prompt = words.contains(where) ? words : words + "\n" + where;
    return question(
        InputType.CONFIRMATION,
        prompt.strip() + "\nHave you signed in there?",
        null,
        List.of(),
        metadata);
  }

  /// Asks the user for credentials, which are stored and sent to the agent's host from then on.
  private AuthRequired signIn(String words) throws A2aFailure, InterruptedException {
    var metadata = metadata(TEXT, "", 0).put("expiresIn", timeout.toSeconds());
    metadata.put("host", settings.host());
    var prompt = words.isEmpty() ? taskRun.origin().agentId() + " wants you to sign in" : words;
    try {
      return questions.signIn(
          new ToolSignIn(AuthType.CUSTOM, settings.host(), List.of(), prompt, null, timeout, null),
          metadata);
    } catch (Rejection.Invalid impossible) {
      throw A2aFailure.unusable(
          "it requires a sign-in, which is not possible: " + impossible.getMessage());
    }
  }

  private static String shortened(String text) {
    return text.length() <= PROMPT_MAX ? text : text.substring(0, PROMPT_MAX) + "…";
  }
}
