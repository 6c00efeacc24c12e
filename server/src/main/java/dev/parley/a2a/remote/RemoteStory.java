package dev.parley.a2a.remote;

import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
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
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Asked;
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
final class RemoteStory {

  /// In a checkpoint's state and in metadata: the object with the data of the remote agent.
  static final String STATE = "a2a";

  /// In a thought's metadata: the id of its remote message. In a checkpoint: the id of a message
  /// that is about to be sent.
  static final String MESSAGE = "messageId";

  /// In the same checkpoint: how many user messages of the local task the sent message includes.
  static final String TOLD = "told";

  /// In the same checkpoint: the id of the remote question that the sent message answers; empty if
  /// it has none.
  static final String ANSWERS = "answers";

  /// In a checkpoint: the agent acknowledged the message, with this remote task and context.
  static final String HEARD = "heard";

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

  /// In a tool call's metadata: the remote id of the call.
  static final String CALL = "callId";

  /// The reason of an expired question that the agent no longer asks. Stored in logs: never change
  /// it.
  static final String SETTLED = "it was answered or withdrawn where the agent works";

  /// A question to a person. `value` is the answer, or `reason` is why there is none.
  record Question(
      ObjectNode metadata,
      boolean signIn,
      boolean open,
      @Nullable JsonNode value,
      @Nullable String reason) {

    private static Question of(@Nullable ObjectNode metadata, boolean signIn) {
      return new Question(metadata == null ? Json.object() : metadata, signIn, true, null, null);
    }

    /// The data of the remote question.
    JsonNode about() {
      return metadata.path(STATE);
    }

    private Question given(@Nullable JsonNode answer) {
      return new Question(metadata, signIn, false, answer, null);
    }

    private Question lapsed(@Nullable String why) {
      return new Question(metadata, signIn, false, null, why == null ? "there was no answer" : why);
    }
  }

  final Told told = new Told();
  final Set<String> thought = new HashSet<>();
  final Map<String, ToolStart> calls = new LinkedHashMap<>();
  final Set<String> called = new HashSet<>();
  final Map<String, Question> questions = new LinkedHashMap<>();

  /// The ids of the approvals that the agent asks for now. Earlier approvals are obsolete.
  final Set<String> wanted = new LinkedHashSet<>();

  /// True if the agent rejected the last message. Not folded: the next checkpoint records it.
  boolean refused;

  @Nullable String sent;
  @Nullable String answered;
  boolean heard;
  int telling;
  @Nullable String task;
  @Nullable String previous;
  @Nullable String context;
  @Nullable WireState ended;
  int thoughts;
  private final List<String> said = new ArrayList<>();

  /// Applies an event of the task, or a message to it.
  void add(Event event) {
    switch (event) {
      case InternalCheckpoint checkpoint when checkpoint.state() != null ->
          add(checkpoint.state().path(STATE));
      case ContentDelta delta -> told.add(delta);
      case ContentComplete complete -> told.end(complete);
      case FileWrite write -> told.add(write);
      case DataWrite write -> told.add(write);
      case DatasetWrite write -> told.add(write);
      case ThoughtStream piece -> {
        thoughts++;
        thought.add(text(piece.metadata(), MESSAGE));
      }
      case ToolStart start -> {
        calls.put(text(start.metadata(), CALL), start);
        called.add(text(start.metadata(), CALL));
      }
      case ToolComplete end ->
          calls.values().removeIf(call -> call.toolCallId().equals(end.toolCallId()));
      case InputRequired asked ->
          questions.put(asked.inputId().value(), Question.of(asked.metadata(), false));
      case AuthRequired asked ->
          questions.put(asked.authId().value(), Question.of(asked.metadata(), true));
      default -> hear(event);
    }
  }

  /// Applies an event that was appended by others, such as a message or an answer. Ignores other
  /// events.
  void hear(Event event) {
    switch (event) {
      case Message message when message.role() == Role.USER -> said.add(message.content());
      case InputReceived answer when Asked.skips(answer.value()) ->
          lapse(answer.inputId().value(), Asked.SKIPPED);
      case InputReceived answer ->
          questions.computeIfPresent(answer.inputId().value(), (_, q) -> q.given(answer.value()));
      case InputLapsed lapsed -> lapse(lapsed.inputId().value(), lapsed.reason());
      case AuthCompleted done ->
          questions.computeIfPresent(done.authId().value(), (_, q) -> q.given(null));
      case AuthLapsed lapsed -> lapse(lapsed.authId().value(), lapsed.reason());
      default -> {} // Other events do not change the state.
    }
  }

  private void lapse(String id, @Nullable String reason) {
    questions.computeIfPresent(id, (_, question) -> question.lapsed(reason));
    if (SETTLED.equals(reason)) {
      // The agent no longer waits for the answers that were given together with it, either.
      questions.values().removeIf(question -> !question.open());
    }
  }

  private void add(JsonNode state) {
    if (state.has(MESSAGE)) {
      sent = state.path(MESSAGE).asString();
      heard = false;
      ended = null;
      telling = state.path(TOLD).asInt(0);
      answered = state.has(ANSWERS) ? state.path(ANSWERS).asString() : null;
      if (answered == null) {
        previous = task;
        task = null;
        told.clear();
      }
    }
    if (state.has(HEARD)) {
      heard = true;
      said.subList(0, Math.min(telling, said.size())).clear();
      telling = 0;
      if (!state.path(REFUSED).asBoolean(false)) {
        questions.values().removeIf(question -> !question.open());
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
      told.begin(
          state.path(ARTIFACT).asString(""),
          new BlockId(state.path(BLOCK).asString()),
          state.path(FRESH).asBoolean(false));
    }
    if (state.has(ENDED)) {
      ended = WireState.of(state.path(ENDED).asString("")).orElse(WireState.UNKNOWN);
    }
  }

  /// True if a question is open, or its answer was not sent yet.
  boolean asks() {
    return !questions.isEmpty();
  }

  /// True if the agent, given this status, still asks the open questions. A question without an id
  /// may be another one.
  boolean asks(WireStatus status) {
    return status.state().interrupted()
        && questions.values().stream()
            .filter(Question::open)
            .map(question -> question.about().path(Inquiry.NAME).asString(""))
            .allMatch(name -> name.isEmpty() || name.equals(Inquiry.name(status)));
  }

  /// True if a question is open.
  boolean waits() {
    return questions.values().stream().anyMatch(Question::open);
  }

  /// The number of messages in [#unheard].
  int unheardCount() {
    return said.size();
  }

  /// The user messages that were not sent to the agent yet.
  Optional<String> unheard() {
    return said.isEmpty() ? Optional.empty() : Optional.of(String.join("\n\n", said));
  }

  private static String text(@Nullable ObjectNode metadata, String name) {
    return metadata == null ? "" : metadata.path(name).asString("");
  }
}
