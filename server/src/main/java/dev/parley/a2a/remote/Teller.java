package dev.parley.a2a.remote;

import dev.parley.a2a.WireArtifact;
import dev.parley.a2a.WireArtifactUpdate;
import dev.parley.a2a.WireItem;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireRole;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
import dev.parley.a2a.WireStatusUpdate;
import dev.parley.a2a.WireTask;
import dev.parley.cli.OpenCalls;
import dev.parley.cli.Sessions;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Writes the output of a remote agent as events of the local task. Repeated output is written
/// once.
///
/// [#tell] collects events; [#flush] returns when they are durable. For one thread.
final class Teller {

  private static final long TOLD_MAX = 20_000_000;
  private static final String PROVIDER = "a2a";

  /// The functions by which ADK agents ask a person.
  private static final Set<String> QUESTIONS =
      Set.of("adk_request_confirmation", "adk_request_credential");

  private static final Set<String> EARLY_ENDS = Set.of("length", "content-filter", "refusal");

  private static final WireStatus NOTHING = new WireStatus(WireState.UNKNOWN, null, null);

  /// How an artifact's content relates to its earlier content.
  enum Manner {
    /// Appends to it.
    APPEND,
    /// Replaces it.
    REPLACE,
    /// The whole artifact, possibly slightly outdated.
    SNAPSHOT
  }

  private final Run run;
  private final RemoteStory story;
  private final String program;
  private final List<Event> pending = new ArrayList<>();
  private final Keeper keeper;
  private WireStatus status = NOTHING;
  private String earlyEnd = "";
  private long told;

  Teller(Run run, RemoteStory story, String program) {
    this.run = run;
    this.story = story;
    this.program = program;
    this.keeper = new Keeper(run, story.told, this::add);
  }

  /// The last known status of the remote task.
  WireStatus status() {
    return status;
  }

  /// Why the remote model ended the answer early; empty if it did not or this is not known.
  String earlyEnd() {
    return earlyEnd;
  }

  /// Resets the status because a message is about to be sent.
  void turn() {
    status = NOTHING;
  }

  /// Collects the events of an item.
  ///
  /// @throws Rejection.TooLarge if the agent sends more than a task allows
  void tell(WireItem item) throws Trouble {
    switch (item) {
      case WireTask task -> {
        if (isOurs(task.id(), task.contextId())) {
          tell(task);
          noteEarlyEnd(task.metadata());
        }
      }
      case WireStatusUpdate update -> {
        if (isOurs(update.taskId(), update.contextId())) {
          tell(update.status());
          noteEarlyEnd(update.metadata());
        }
      }
      case WireArtifactUpdate update -> {
        if (isOurs(update.taskId(), update.contextId())) {
          tell(
              update.artifact(),
              update.append() ? Manner.APPEND : Manner.REPLACE,
              update.lastChunk());
        }
      }
      case WireMessage message -> whole(message);
    }
  }

  private void noteEarlyEnd(@Nullable ObjectNode metadata) {
    var reason = metadata == null ? "" : metadata.path("finishReason").asString("");
    if (EARLY_ENDS.contains(reason)) {
      earlyEnd = reason;
    }
  }

  /// True if this belongs to the task that was sent to the agent. The first item determines its
  /// remote id.
  private boolean isOurs(@Nullable String task, @Nullable String context) {
    if (story.heard) {
      return task != null && task.equals(story.task);
    }
    var state = Json.object();
    var about = state.putObject(RemoteStory.STATE).put(RemoteStory.HEARD, true);
    if (story.refused) {
      about.put(RemoteStory.REFUSED, true);
    }
    if (task != null) {
      about.put(RemoteStory.TASK, task);
    }
    if (context != null) {
      about.put(RemoteStory.CONTEXT, context);
      state.set(Sessions.STATE, Sessions.note(run, program, context, Sessions.remembers(run)));
    }
    add(new InternalCheckpoint(0, state));
    return true;
  }

  private void tell(WireTask task) throws Trouble {
    if (task.history() != null) {
      task.history().stream().filter(one -> one.role() == WireRole.AGENT).forEach(this::tools);
    }
    for (var artifact : task.artifacts()) {
      tell(artifact, Manner.SNAPSHOT, false);
    }
    tell(task.status());
  }

  private void tell(WireStatus now) {
    status = now;
    var message = now.message();
    if (message == null || message.role() == WireRole.USER || now.state().interrupted()) {
      return;
    }
    tools(message);
    if (!now.state().terminal()) {
      think(message);
    } else if (now.state() == WireState.COMPLETED && story.told.answer().isEmpty()) {
      // Some agents send their answer only in the final status.
      write(id(message), words(message.parts()), Manner.SNAPSHOT);
    }
  }

  /// A message without a task is the agent's whole answer.
  private void whole(WireMessage message) throws Trouble {
    isOurs(message.taskId(), message.contextId());
    tell(
        new WireArtifact(id(message), null, null, message.parts(), null, List.of()),
        Manner.SNAPSHOT,
        true);
    status = new WireStatus(WireState.COMPLETED, null, null);
  }

  private static String id(WireMessage message) {
    return "message/" + message.messageId();
  }

  private void tell(WireArtifact artifact, Manner manner, boolean last) throws Trouble {
    var words = Keeper.isFile(artifact) ? "" : words(artifact.parts());
    var replaced =
        artifact.metadata() != null
            && artifact.metadata().has("replacedBy")
            && story.told.texts.containsKey(artifact.artifactId());
    if (!words.isEmpty() || replaced) {
      write(artifact.artifactId(), words, replaced ? Manner.REPLACE : manner);
    }
    var text = story.told.texts.get(artifact.artifactId());
    if (last && text != null) {
      end(text);
    }
    count(keeper.keep(artifact, manner, last));
  }

  /// The text of these parts, without text that has a filename, which is a file.
  static String words(List<WirePart> parts) {
    return parts.stream()
        .filter(part -> part.filename() == null)
        .map(part -> part.content() instanceof WirePart.Text(var text) ? text : "")
        .collect(Collectors.joining());
  }

  private void write(String artifact, String words, Manner manner) {
    var text = story.told.texts.get(artifact);
    var before = text == null ? "" : text.all.toString();
    if (manner == Manner.APPEND) {
      say(artifact, words);
    } else if (words.equals(before)) {
      return;
    } else if (words.startsWith(before)) {
      say(artifact, words.substring(before.length()));
    } else if (manner == Manner.REPLACE || !before.startsWith(words)) {
      if (text != null && text.block != null) {
        add(
            new ContentComplete(
                text.inBlock.toString(),
                text.block,
                FinishReason.INTERRUPTED,
                true,
                text.replaces,
                null));
      }
      begin(artifact, true);
      say(artifact, words);
    }
  }

  private void say(String artifact, String piece) {
    if (piece.isEmpty()) {
      return;
    }
    count(piece.length());
    var text = story.told.texts.get(artifact);
    if (text == null || text.block == null) {
      begin(artifact, false);
      text = story.told.texts.get(artifact);
    }
    if (text != null) {
      add(new ContentDelta(piece, text.deltas, text.block));
    }
  }

  private void begin(String artifact, boolean fresh) {
    var about =
        Json.object()
            .put(RemoteStory.BLOCK, run.sources().blockId().value())
            .put(RemoteStory.ARTIFACT, artifact);
    if (fresh) {
      about.put(RemoteStory.FRESH, true);
    }
    note(about);
  }

  private void end(Told.Text text) {
    if (text.block != null) {
      add(
          new ContentComplete(
              text.inBlock.toString(), text.block, FinishReason.STOP, null, text.replaces, null));
    }
  }

  private void think(WireMessage message) {
    var words = words(message.parts());
    if (words.isBlank() || story.thought.contains(message.messageId())) {
      return;
    }
    count(words.length());
    add(
        new ThoughtStream(
            run.sources().thoughtId(),
            ThoughtType.OBSERVATION,
            Verbosity.NORMAL,
            words,
            story.thoughts,
            Json.object().put("source", PROVIDER).put(RemoteStory.MESSAGE, message.messageId()),
            null));
  }

  /// Writes the tool calls and results in a message.
  private void tools(WireMessage message) {
    for (var part : message.parts()) {
      if (part.content() instanceof WirePart.Data(var value)
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
    if (call.isEmpty() || story.called.contains(call) || QUESTIONS.contains(name)) {
      return;
    }
    var id = run.sources().toolCallId();
    var metadata =
        Json.object()
            .put("provider", PROVIDER)
            .put(RemoteStory.CALL, call)
            .put("effect", "at-most-once")
            .put("concurrent", true);
    var arguments = data.path("args") instanceof ObjectNode object ? object : Json.object();
    count(arguments.toString().length());
    var key = run.origin().taskId() + "/" + id;
    add(new ToolStart(id, name, arguments, metadata, 1, key, null, null));
  }

  private void end(ObjectNode data) {
    var call = story.calls.get(data.path("id").asString(""));
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
  void pause() {
    List.copyOf(story.told.texts.values()).forEach(this::end);
  }

  /// Ends all open items because the agent is done.
  void finish() {
    pause();
    keeper.finish();
    for (var call : List.copyOf(story.calls.values())) {
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
    note(Json.object().put(RemoteStory.ENDED, status.state().kebab()));
  }

  /// Collects a checkpoint.
  void note(ObjectNode about) {
    var state = Json.object();
    state.set(RemoteStory.STATE, about);
    add(new InternalCheckpoint(0, state));
  }

  /// Collects an event.
  void add(Event event) {
    pending.add(event);
    story.add(event);
  }

  private void count(long characters) {
    told += characters;
    if (told > TOLD_MAX) {
      throw new Rejection.TooLarge("limit", "the agent sent more than " + TOLD_MAX + " characters");
    }
  }

  /// Appends the collected events and returns when they are durable. False if there were none.
  boolean flush() {
    if (pending.isEmpty()) {
      return false;
    }
    var events = List.copyOf(pending);
    pending.clear();
    OpenCalls.emit(run, events);
    return true;
  }
}
