package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireArtifact;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireTask;
import dev.parley.door.DoorParts;
import dev.parley.door.Voice;
import dev.parley.log.EventLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.view.TaskView;
import dev.parley.view.Views;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads root tasks from the log as A2A tasks.
public final class TaskForm {

  private static final int READ = 512;

  private final EventLog log;
  private final Views views;
  private final Voice voice;
  private final Stored stored;
  private final EndedTasks ended = new EndedTasks();
  private final boolean kagent;

  /// @param kagent whether messages and tasks carry kagent metadata
  public TaskForm(DoorParts parts, boolean kagent) {
    this.kagent = kagent;
    this.log = parts.log();
    this.views = parts.views();
    this.voice = new Voice(log, views);
    this.stored = new Stored(views);
    parts.removal().also(ended::forget);
  }

  /// The position before a root task's first message, where its fold begins.
  public static Position before(TaskView task) {
    return Position.of(Math.max(0, task.seq() - 2));
  }

  /// A new fold of a root task. Apply the entries after [#before] to it.
  public TaskFold begin(TaskView task, Version version) {
    return new TaskFold(voice, marks(task.contextId(), task.taskId(), task.agentId()), version);
  }

  /// A new fold for streams to this caller.
  TaskFold begin(TaskView task, Caller caller) {
    var repeated = kagent && caller.kagent() && caller.version() == Version.V0_3;
    var marks = marks(task.contextId(), task.taskId(), task.agentId());
    return new TaskFold(voice, marks, caller.version(), repeated);
  }

  /// The metadata of a root task.
  Marks marks(ContextId context, TaskId root, AgentTypeId agent) {
    return new Marks(context, root, agent, log.owner(context), kagent);
  }

  /// A fold of a root task with all of its current entries applied.
  public TaskFold now(TaskView task, Version version) {
    return now(task, begin(task, version));
  }

  /// A fold for streams to this caller, with all current entries applied.
  TaskFold now(TaskView task, Caller caller) {
    return now(task, begin(task, caller));
  }

  private TaskFold now(TaskView task, TaskFold fold) {
    var position = before(task);
    for (var page = log.read(task.contextId(), position, READ);
        !page.isEmpty() && !fold.state().terminal();
        page = log.read(task.contextId(), position, READ)) {
      for (var entry : page) {
        fold.take(entry);
        position = entry.position();
        if (fold.state().terminal()) {
          break;
        }
      }
    }
    return fold;
  }

  /// The current state of a root task.
  public WireTask snapshot(
      TaskView task, Version version, @Nullable Integer historyLength, boolean artifacts) {
    var elsewhere = elsewhere(task);
    if (elsewhere.isPresent()) {
      return Stored.cut(elsewhere.get(), historyLength, artifacts);
    }
    var shown =
        task.status().terminal()
            ? Stored.cut(ended(task, version), historyLength, artifacts)
            : now(task, version).task(historyLength, artifacts);
    return edited(task, shown);
  }

  /// An ended task, without later edits and deletions.
  private WireTask ended(TaskView task, Version version) {
    var key = new EndedTasks.Key(task.contextId(), task.taskId(), version);
    return ended.get(key, () -> now(task, version).task(null, true));
  }

  /// The state of the task that [#snapshot] returns.
  WireState state(TaskView task, Version version) {
    return elsewhere(task)
        .map(known -> known.status().state())
        .orElseGet(
            () ->
                task.status().terminal()
                    ? ended(task, version).status().state()
                    : now(task, version).state());
  }

  /// The task as a client stored it, if it is external.
  private Optional<WireTask> elsewhere(TaskView task) {
    return Stored.is(task) ? stored.find(task.contextId(), task.taskId()) : Optional.empty();
  }

  /// Applies later edits and deletions of messages to the task.
  private WireTask edited(TaskView task, WireTask shown) {
    if (shown.history() == null) {
      return shown;
    }
    var history = new ArrayList<WireMessage>();
    var artifacts = shown.artifacts();
    for (var said : shown.history()) {
      var now = edited(task.contextId(), said);
      now.ifPresent(history::add);
      if (!now.equals(Optional.of(said))) {
        artifacts =
            artifacts.stream().flatMap(made -> edited(made, said, now.orElse(null))).toList();
      }
    }
    return new WireTask(
        shown.id(), shown.contextId(), shown.status(), artifacts, history, shown.metadata());
  }

  /// An artifact with the text of an edited message gets the new text; one of a deleted message is
  /// omitted.
  private static Stream<WireArtifact> edited(
      WireArtifact made, WireMessage said, @Nullable WireMessage now) {
    if (!text(made.parts()).equals(text(said.parts()))) {
      return Stream.of(made);
    }
    return now == null
        ? Stream.empty()
        : Stream.of(
            new WireArtifact(
                made.artifactId(),
                made.name(),
                made.description(),
                now.parts(),
                made.metadata(),
                made.extensions()));
  }

  private static String text(List<WirePart> parts) {
    return parts.stream()
        .map(part -> part.content() instanceof WirePart.Text(var text) ? text : "\0")
        .collect(Collectors.joining());
  }

  private Optional<WireMessage> edited(ContextId context, WireMessage said) {
    var id = Id.valid(said.messageId()) ? new MessageId(said.messageId()) : null;
    if (id == null || views.place(context, id).isEmpty()) {
      return Optional.of(said);
    }
    return views
        .message(context, id)
        .map(
            now ->
                now.editedAt() == null
                    ? said
                    : new WireMessage(
                        said.messageId(),
                        said.contextId(),
                        said.taskId(),
                        said.role(),
                        List.of(WirePart.text(now.content())),
                        said.metadata()));
  }
}
