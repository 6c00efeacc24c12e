package dev.parley.external.a2a;

import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aStatus;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.DeclinedAnswer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The state of a remote task, folded from the events of the local task. For one thread.
final class RemoteTaskState {

  /// In a checkpoint's state and in metadata: the object with the data of the remote agent.
  static final String STATE = "a2a";

  /// In a thought's metadata: the id of its remote message. In a checkpoint: the id of a message
  /// that is about to be sent.
  static final String MESSAGE = "messageId";

  /// In the same checkpoint: how many user messages of the local task the sent message includes.
  static final String SENT_COUNT = "told";

  /// In the same checkpoint: the id of the remote question that the sent message answers; empty if
  /// it has none.
  static final String ANSWERS = "answers";

  /// In a checkpoint: the agent acknowledged the message, with this remote task and context.
  static final String ACKNOWLEDGED = "heard";

  static final String TASK = "taskId";
  static final String CONTEXT = "contextId";

  /// In the same checkpoint: the agent rejected the message, and its content must be sent again.
  static final String REFUSED = "refused";

  /// In a checkpoint: the ids of the approvals that the agent asks for now.
  static final String WANTED = "wanted";

  /// In a checkpoint: the final state of the remote task.
  static final String ENDED = "ended";

  /// In a checkpoint: a block of text begins for this artifact. With `fresh`, it replaces the
  /// artifact's earlier text.
  static final String BLOCK = "blockId";

  static final String ARTIFACT = "artifactId";
  static final String FRESH = "fresh";

  /// The reason of an expired question that the agent no longer asks. Stored in logs: never change
  /// it.
  static final String SETTLED = "it was answered or withdrawn where the agent works";

  /// A question to a person. `value` is the answer, or `reason` is why there is none.
  record RemoteQuestion(
      QuestionFacts facts,
      boolean signIn,
      boolean open,
      @Nullable JsonNode value,
      @Nullable String reason) {

    private static RemoteQuestion of(QuestionFacts facts, boolean signIn) {
      return new RemoteQuestion(facts, signIn, true, null, null);
    }

    /// The data of the remote question.
    JsonNode remoteMetadata() {
      return facts.extension(STATE).orElseGet(Json::object);
    }

    private RemoteQuestion answered(@Nullable JsonNode answer) {
      return new RemoteQuestion(facts, signIn, false, answer, null);
    }

    private RemoteQuestion expired(@Nullable String why) {
      return new RemoteQuestion(
          facts, signIn, false, null, why == null ? "there was no answer" : why);
    }
  }

  final WrittenArtifacts written = new WrittenArtifacts();
  final Set<String> writtenThoughts = new HashSet<>();
  final Map<String, ToolStart> openCalls = new LinkedHashMap<>();
  final Set<String> startedCalls = new HashSet<>();
  final Map<String, RemoteQuestion> questions = new LinkedHashMap<>();

  /// The ids of the approvals that the agent asks for now. Earlier approvals are obsolete.
  final Set<String> wanted = new LinkedHashSet<>();

  /// True if the agent rejected the last message. Not folded: the next checkpoint records it.
  boolean refused;

  @Nullable String sentMessageId;
  @Nullable String answered;
  boolean acknowledged;
  int sendingCount;
  @Nullable String task;
  @Nullable String previous;
  @Nullable String context;
  @Nullable A2aState ended;
  int thoughtCount;
  private final List<String> unsentMessages = new ArrayList<>();

  /// Applies an event of the task, or a message to it.
  void apply(Event event) {
    switch (event) {
      case InternalCheckpoint checkpoint when checkpoint.state() != null ->
          apply(checkpoint.state().path(STATE));
      case ContentDelta delta -> written.add(delta);
      case ContentComplete complete -> written.end(complete);
      case FileWrite write -> written.add(write);
      case DataWrite write -> written.add(write);
      case DatasetWrite write -> written.add(write);
      case ThoughtStream piece -> {
        thoughtCount++;
        writtenThoughts.add(text(piece.metadata(), MESSAGE));
      }
      case ToolStart start -> {
        openCalls.put(start.facts().externalId().orElse(""), start);
        startedCalls.add(start.facts().externalId().orElse(""));
      }
      case ToolComplete end ->
          openCalls.values().removeIf(call -> call.toolCallId().equals(end.toolCallId()));
      case InputRequired asked ->
          questions.put(asked.inputId().value(), RemoteQuestion.of(asked.facts(), false));
      case AuthRequired asked ->
          questions.put(asked.authId().value(), RemoteQuestion.of(asked.facts(), true));
      default -> applyExternal(event);
    }
  }

  /// Applies an event that was appended by others, such as a message or an answer. Ignores other
  /// events.
  void applyExternal(Event event) {
    switch (event) {
      case Message message when message.role() == Role.USER ->
          unsentMessages.add(message.content());
      case InputReceived answer when DeclinedAnswer.skips(answer.value()) ->
          expire(answer.inputId().value(), DeclinedAnswer.SKIPPED);
      case InputReceived answer ->
          questions.computeIfPresent(
              answer.inputId().value(), (_, q) -> q.answered(answer.value()));
      case InputLapsed lapsed -> expire(lapsed.inputId().value(), lapsed.reason());
      case AuthCompleted done ->
          questions.computeIfPresent(done.authId().value(), (_, q) -> q.answered(null));
      case AuthLapsed lapsed -> expire(lapsed.authId().value(), lapsed.reason());
      default -> {} // Other events do not change the state.
    }
  }

  private void expire(String id, @Nullable String reason) {
    questions.computeIfPresent(id, (_, remoteQuestion) -> remoteQuestion.expired(reason));
    if (SETTLED.equals(reason)) {
      // The agent no longer waits for the answers that were given together with it, either.
      questions.values().removeIf(remoteQuestion -> !remoteQuestion.open());
    }
  }

  private void apply(JsonNode state) {
    if (state.has(MESSAGE)) {
      sentMessageId = state.path(MESSAGE).asString();
      acknowledged = false;
      ended = null;
      sendingCount = state.path(SENT_COUNT).asInt(0);
      answered = state.has(ANSWERS) ? state.path(ANSWERS).asString() : null;
      if (answered == null) {
        previous = task;
        task = null;
        written.clear();
      }
    }
    if (state.has(ACKNOWLEDGED)) {
      acknowledged = true;
      unsentMessages.subList(0, Math.min(sendingCount, unsentMessages.size())).clear();
      sendingCount = 0;
      if (!state.path(REFUSED).asBoolean(false)) {
        questions.values().removeIf(remoteQuestion -> !remoteQuestion.open());
        wanted.clear();
      }
      refused = false;
      task = state.has(TASK) ? state.path(TASK).asString() : null;
      context = state.has(CONTEXT) ? state.path(CONTEXT).asString() : context;
    }
    if (state.has(WANTED)) {
      wanted.clear();
      state.path(WANTED).forEach(id -> wanted.add(id.asString("")));
    }
    if (state.has(BLOCK)) {
      written.begin(
          state.path(ARTIFACT).asString(""),
          new BlockId(state.path(BLOCK).asString()),
          state.path(FRESH).asBoolean(false));
    }
    if (state.has(ENDED)) {
      ended = A2aState.of(state.path(ENDED).asString("")).orElse(A2aState.UNKNOWN);
    }
  }

  /// True if a question is open, or its answer was not sent yet.
  boolean asks() {
    return !questions.isEmpty();
  }

  /// True if the agent, given this status, still asks the open questions. A question without an id
  /// may be another one.
  boolean asks(A2aStatus status) {
    return status.state().interrupted()
        && questions.values().stream()
            .filter(RemoteQuestion::open)
            .map(
                remoteQuestion ->
                    remoteQuestion
                        .remoteMetadata()
                        .path(RemoteQuestionMapper.MESSAGE_ID)
                        .asString(""))
            .allMatch(
                name -> name.isEmpty() || name.equals(RemoteQuestionMapper.questionId(status)));
  }

  /// True if a question is open.
  boolean waitsForPerson() {
    return questions.values().stream().anyMatch(RemoteQuestion::open);
  }

  /// The number of messages in [#unsentText].
  int unsentCount() {
    return unsentMessages.size();
  }

  /// The user messages that were not sent to the agent yet.
  Optional<String> unsentText() {
    return unsentMessages.isEmpty()
        ? Optional.empty()
        : Optional.of(String.join("\n\n", unsentMessages));
  }

  private static String text(@Nullable ObjectNode metadata, String name) {
    return metadata == null ? "" : metadata.path(name).asString("");
  }
}
