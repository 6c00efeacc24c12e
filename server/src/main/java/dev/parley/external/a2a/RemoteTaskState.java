package dev.parley.external.a2a;

import dev.parley.a2a.A2aState;
import dev.parley.agent.TaskHistory;
import dev.parley.agent.TaskQuestion;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// The state of a remote task, folded from the events of the local task. Its questions are those that
/// are open or whose answers were not sent to the agent. For one thread.
final class RemoteTaskState extends TaskHistory {

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

  final WrittenArtifacts written = new WrittenArtifacts();
  final Set<String> writtenThoughts = new HashSet<>();
  final Set<String> startedCalls = new HashSet<>();

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

  @Override
  public void apply(Event event, Instant at) {
    super.apply(event, at);
    switch (event) {
      case InternalCheckpoint checkpoint when checkpoint.state() != null ->
          apply(checkpoint.state().path(STATE));
      case ContentDelta delta -> written.add(delta);
      case ContentComplete complete -> written.end(complete);
      case FileWrite write -> written.add(write);
      case DataWrite write -> written.add(write);
      case DatasetWrite write -> written.add(write);
      case ThoughtStream piece ->
          writtenThoughts.add(
              piece.metadata() == null ? "" : piece.metadata().path(MESSAGE).asString(""));
      case ToolStart start -> startedCalls.add(start.facts().externalId().orElse(""));
      case InputLapsed(_, var reason, _) -> forgetSettled(reason);
      case AuthLapsed(_, var reason, _) -> forgetSettled(reason);
      default -> {} // Other events do not change the state.
    }
  }

  private void forgetSettled(@Nullable String reason) {
    if (SETTLED.equals(reason)) {
      // The agent no longer waits for the answers that were given together with it, either.
      forgetEndedQuestions();
    }
  }

  /// Applies the entries that others appended, such as messages and answers. Ignores the others.
  void applyExternal(List<Entry> entries) {
    read(entries.stream().filter(entry -> isExternal(entry.event())).toList());
  }

  private static boolean isExternal(Event event) {
    return switch (event) {
      case Message _, InputReceived _, InputLapsed _, AuthCompleted _, AuthLapsed _ -> true;
      default -> false; // The run has applied it already.
    };
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
      removeMessages(sendingCount);
      sendingCount = 0;
      if (!state.path(REFUSED).asBoolean(false)) {
        forgetEndedQuestions();
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

  /// True if a question is open.
  boolean waitsForPerson() {
    return questions().values().stream().anyMatch(TaskQuestion::open);
  }

  /// The open call with this id of the agent.
  Optional<ToolStart> openCall(String externalId) {
    return openCalls().values().stream()
        .map(StartedCall::start)
        .filter(call -> call.facts().externalId().orElse("").equals(externalId))
        .findFirst();
  }
}
