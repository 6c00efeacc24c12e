package dev.parley.external.a2a;

import dev.parley.a2a.A2aArtifact;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aResponseItem.A2aArtifactUpdate;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.agent.TaskOutput;
import dev.parley.external.a2a.WrittenArtifacts.WrittenText;
import dev.parley.external.cli.ExternalSessions;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Writes the output of a remote agent as events of the local task. Repeated output is written
/// once.
///
/// [#apply] collects events; [#flush] returns when they are durable. For one thread.
final class RemoteEventWriter {

  private static final String PROVIDER = "a2a";

  /// The functions by which ADK agents ask a person.
  private static final Set<String> QUESTIONS =
      Set.of("adk_request_confirmation", "adk_request_credential");

  private static final A2aStatus NO_STATUS = new A2aStatus(A2aState.UNKNOWN, null, null);

  /// How an artifact's content relates to its earlier content.
  enum ArtifactUpdateMode {
    /// Appends to it.
    APPEND,
    /// Replaces it.
    REPLACE,
    /// The whole artifact, possibly slightly outdated.
    SNAPSHOT
  }

  private final TaskRun taskRun;
  private final RemoteTaskState remoteState;
  private final String program;
  private final List<Event> pending = new ArrayList<>();
  private final ArtifactImporter importer;
  private A2aStatus status = NO_STATUS;
  private @Nullable EarlyEnd earlyEnd;
  private long writtenLength;

  RemoteEventWriter(TaskRun taskRun, RemoteTaskState story, String program) {
    this.taskRun = taskRun;
    this.remoteState = story;
    this.program = program;
    this.importer = new ArtifactImporter(taskRun, story.written, this::add);
  }

  /// The last known status of the remote task.
  A2aStatus status() {
    return status;
  }

  /// Why the remote model ended the answer early; empty if it did not or this is not known.
  Optional<EarlyEnd> earlyEnd() {
    return Optional.ofNullable(earlyEnd);
  }

  /// Resets the status because a message is about to be sent.
  void resetStatus() {
    status = NO_STATUS;
  }

  /// Collects the events of an item.
  ///
  /// @throws Rejection.TooLarge if the agent sends more than a task allows
  void apply(A2aResponseItem item) throws A2aFailure {
    switch (item) {
      case A2aTask task -> {
        if (isOurs(task.id(), task.contextId())) {
          apply(task);
          noteEarlyEnd(task.metadata());
        }
      }
      case A2aStatusUpdate update -> {
        if (isOurs(update.taskId(), update.contextId())) {
          apply(update.status());
          noteEarlyEnd(update.metadata());
        }
      }
      case A2aArtifactUpdate update -> {
        if (isOurs(update.taskId(), update.contextId())) {
          apply(
              update.artifact(),
              update.append() ? ArtifactUpdateMode.APPEND : ArtifactUpdateMode.REPLACE,
              update.lastChunk());
        }
      }
      case A2aMessage message -> applyDirectMessage(message);
    }
  }

  private void noteEarlyEnd(@Nullable ObjectNode metadata) {
    var reason = metadata == null ? "" : metadata.path("finishReason").asString("");
    earlyEnd = EarlyEnd.find(reason).orElse(earlyEnd);
  }

  /// True if this belongs to the task that was sent to the agent. The first item determines its
  /// remote id.
  private boolean isOurs(@Nullable String task, @Nullable String context) {
    if (remoteState.acknowledged) {
      return task != null && task.equals(remoteState.task);
    }
    var state = Json.object();
    var about = state.putObject(RemoteTaskState.STATE).put(RemoteTaskState.ACKNOWLEDGED, true);
    if (remoteState.refused) {
      about.put(RemoteTaskState.REFUSED, true);
    }
    if (task != null) {
      about.put(RemoteTaskState.TASK, task);
    }
    if (context != null) {
      about.put(RemoteTaskState.CONTEXT, context);
      state.set(
          ExternalSessions.STATE,
          ExternalSessions.sessionState(
              taskRun, program, context, ExternalSessions.hasHistory(taskRun)));
    }
    add(new InternalCheckpoint(0, state));
    return true;
  }

  private void apply(A2aTask task) throws A2aFailure {
    if (task.history() != null) {
      task.history().stream().filter(one -> one.role() == A2aRole.AGENT).forEach(this::tools);
    }
    for (var artifact : task.artifacts()) {
      apply(artifact, ArtifactUpdateMode.SNAPSHOT, false);
    }
    apply(task.status());
  }

  private void apply(A2aStatus now) {
    status = now;
    var message = now.message();
    if (message == null || message.role() == A2aRole.USER || now.state().interrupted()) {
      return;
    }
    tools(message);
    if (!now.state().terminal()) {
      writeThought(message);
    } else if (now.state() == A2aState.COMPLETED && remoteState.written.answer().isEmpty()) {
      // Some agents send their answer only in the final status.
      writeText(id(message), textOf(message.parts()), ArtifactUpdateMode.SNAPSHOT);
    }
  }

  /// A message without a task is the agent's whole answer.
  private void applyDirectMessage(A2aMessage message) throws A2aFailure {
    isOurs(message.taskId(), message.contextId());
    apply(
        new A2aArtifact(id(message), null, null, message.parts(), null, List.of()),
        ArtifactUpdateMode.SNAPSHOT,
        true);
    status = new A2aStatus(A2aState.COMPLETED, null, null);
  }

  private static String id(A2aMessage message) {
    return "message/" + message.messageId();
  }

  private void apply(A2aArtifact artifact, ArtifactUpdateMode artifactUpdateMode, boolean last)
      throws A2aFailure {
    var words = ArtifactImporter.isFile(artifact) ? "" : textOf(artifact.parts());
    var replaced =
        artifact.metadata() != null
            && artifact.metadata().has("replacedBy")
            && remoteState.written.texts.containsKey(artifact.artifactId());
    if (!words.isEmpty() || replaced) {
      writeText(
          artifact.artifactId(), words, replaced ? ArtifactUpdateMode.REPLACE : artifactUpdateMode);
    }
    var writtenText = remoteState.written.texts.get(artifact.artifactId());
    if (last && writtenText != null) {
      writeBlock(writtenText, TaskOutput::endBlock);
    }
    count(importer.importArtifact(artifact, artifactUpdateMode, last));
  }

  /// The text of these parts, without text that has a filename, which is a file.
  static String textOf(List<A2aPart> parts) {
    return parts.stream()
        .filter(part -> part.filename() == null)
        .map(part -> part.content() instanceof A2aPart.TextContent(var text) ? text : "")
        .collect(Collectors.joining());
  }

  private void writeText(String artifact, String words, ArtifactUpdateMode artifactUpdateMode) {
    if (artifactUpdateMode == ArtifactUpdateMode.APPEND) {
      appendText(artifact, words);
      return;
    }
    var writtenText = remoteState.written.texts.get(artifact);
    var before = writtenText == null ? "" : writtenText.all.toString();
    if (words.startsWith(before)) {
      appendText(artifact, words.substring(before.length()));
    } else if (artifactUpdateMode == ArtifactUpdateMode.REPLACE || !before.startsWith(words)) {
      if (writtenText != null) {
        writeBlock(writtenText, TaskOutput::interruptBlock);
      }
      beginBlock(artifact, true);
      appendText(artifact, words);
    }
  }

  private void appendText(String artifact, String piece) {
    if (piece.isEmpty()) {
      return;
    }
    count(piece.length());
    var writtenText = remoteState.written.texts.get(artifact);
    if (writtenText == null || writtenText.block == null) {
      beginBlock(artifact, false);
      writtenText = remoteState.written.texts.get(artifact);
    }
    if (writtenText != null) {
      writeBlock(writtenText, block -> block.appendText(piece));
    }
  }

  private void beginBlock(String artifact, boolean fresh) {
    var about =
        Json.object()
            .put(RemoteTaskState.BLOCK, taskRun.sources().blockId().value())
            .put(RemoteTaskState.ARTIFACT, artifact);
    if (fresh) {
      about.put(RemoteTaskState.FRESH, true);
    }
    addCheckpoint(about);
  }

  /// Writes to the open block of a text, if it has one. Several blocks may be open at a time.
  private void writeBlock(WrittenText text, Consumer<TaskOutput> write) {
    var block = text.output(taskRun.sources(), remoteState::thoughts);
    if (block != null) {
      write.accept(block);
      block.take().forEach(this::add);
    }
  }

  private void writeThought(A2aMessage message) {
    var words = textOf(message.parts());
    if (words.isBlank() || remoteState.writtenThoughts.contains(message.messageId())) {
      return;
    }
    count(words.length());
    var about =
        Json.object().put("source", PROVIDER).put(RemoteTaskState.MESSAGE, message.messageId());
    var output = new TaskOutput(taskRun.sources(), remoteState::thoughts);
    output.addThought(ThoughtType.OBSERVATION, Verbosity.NORMAL, words, about, null);
    output.take().forEach(this::add);
  }

  /// Writes the tool calls and results in a message.
  private void tools(A2aMessage message) {
    for (var part : message.parts()) {
      if (part.content() instanceof A2aPart.DataContent(var value)
          && value instanceof ObjectNode data
          && part.metadata() != null) {
        switch (type(part.metadata())) {
          case "function_call" -> start(data);
          case "function_response" -> end(data);
          default -> {} // Other data has no event.
        }
      }
    }
  }

  private static String type(ObjectNode metadata) {
    return metadata.path("adk_type").asString(metadata.path("kagent_type").asString(""));
  }

  private void start(ObjectNode data) {
    var call = data.path("id").asString("");
    var name = data.path("name").asString("tool");
    if (call.isEmpty() || remoteState.startedCalls.contains(call) || QUESTIONS.contains(name)) {
      return;
    }
    var id = taskRun.sources().toolCallId();
    var metadata = ToolCallFacts.ofExternalStart(PROVIDER, call);
    var arguments = data.path("args") instanceof ObjectNode object ? object : Json.object();
    count(arguments.toString().length());
    var key = TaskOutput.idempotencyKey(taskRun, id);
    add(new ToolStart(id, name, arguments, metadata, 1, key, null, null));
  }

  private void end(ObjectNode data) {
    var call = remoteState.openCall(data.path("id").asString("")).orElse(null);
    if (call == null) {
      return;
    }
    var response = data.path("response");
    var failed = response.path("isError").asBoolean(false);
    JsonNode result = response.has("result") ? response.path("result") : response;
    count(result.toString().length());
    add(
        new ToolComplete(
            call.toolCallId(),
            call.toolName(),
            !failed,
            failed ? null : result,
            failed ? (result.isString() ? result.asString() : result.toString()) : null,
            null,
            null,
            null));
  }

  /// Ends the open texts because the agent waits.
  void endTexts() {
    for (var text : List.copyOf(remoteState.written.texts.values())) {
      writeBlock(text, TaskOutput::endBlock);
    }
  }

  /// Ends all open items because the agent is done.
  void finish() {
    endTexts();
    importer.finish();
    for (var started : List.copyOf(remoteState.openCalls().values())) {
      var call = started.start();
      add(
          new ToolComplete(
              call.toolCallId(),
              call.toolName(),
              false,
              null,
              "the agent ended before this call returned",
              null,
              ToolEvent.Outcome.OUTCOME_UNKNOWN,
              null));
    }
    addCheckpoint(Json.object().put(RemoteTaskState.ENDED, status.state().kebab()));
  }

  /// Collects a checkpoint.
  void addCheckpoint(ObjectNode about) {
    var state = Json.object();
    state.set(RemoteTaskState.STATE, about);
    add(new InternalCheckpoint(0, state));
  }

  /// Collects an event.
  void add(Event event) {
    pending.add(event);
    remoteState.apply(event, taskRun.sources().time().instant());
  }

  private void count(long characters) {
    writtenLength += characters;
    if (writtenLength > TaskOutput.CHARACTERS_MAX) {
      throw new Rejection.TooLarge(
          "limit", "the agent sent more than " + TaskOutput.CHARACTERS_MAX + " characters");
    }
  }

  /// Appends the collected events and returns when they are durable. False if there were none.
  boolean flush() {
    if (pending.isEmpty()) {
      return false;
    }
    var events = List.copyOf(pending);
    pending.clear();
    TaskOutput.emit(taskRun, events);
    return true;
  }
}
