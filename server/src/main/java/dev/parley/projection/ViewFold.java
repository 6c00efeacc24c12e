package dev.parley.projection;

import dev.parley.projection.MessageTable.Correction;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent.AuthCompleted;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskDeleted;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskEvent.TaskStored;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent;
import dev.parley.protocol.ToolEvent;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Applies events to the views: `(tables, entry) -> tables`.
///
/// It uses no clock, no randomness and no configuration, and rejects nothing, because events in the
/// log are facts. Text, thoughts, tool calls and their progress stay in the log only.
final class ViewFold {

  private final ViewTables viewTables;

  private record Begun(TaskId task, BlockId block) {}

  /// Blocks that have begun, so that not every delta needs a query.
  private final Set<Begun> begun = new HashSet<>();

  /// The task that the previous entry ended. Two events in a row end a completed task, and the second
  /// one finds nothing to clean up.
  private @Nullable TaskId endedBefore;

  private ViewFold(ViewTables viewTables) {
    this.viewTables = viewTables;
  }

  /// Applies entries of one context that directly follow the last applied one.
  static void fold(ViewTables viewTables, List<Entry> entries) throws SQLException {
    if (!entries.isEmpty()) {
      var fold = new ViewFold(viewTables);
      viewTables.contexts().begin(entries.getFirst());
      var entryCounter = viewTables.numbers().counter();
      for (var entry : entries) {
        fold.fold(entry);
        fold.endedBefore = endedBy(entry);
        entryCounter.add(entry);
      }
      entryCounter.write(entries.getFirst().contextId());
      viewTables.contexts().advanceTo(entries.getLast());
    }
  }

  private void fold(Entry entry) throws SQLException {
    var context = entry.contextId();
    switch (entry.event()) {
      case ContextCreated created -> viewTables.contexts().create(entry, created);
      case ContextUpdated updated -> viewTables.contexts().update(context, updated);
      case ContextRewound rewound -> rewind(entry, rewound);
      case ContextForked forked -> {
        viewTables.contexts().fork(entry, forked);
        viewTables.tasks().markShared(context, forked.atSeq());
        viewTables.stored().markShared(context, forked.atSeq());
      }
      case StateUpdated updated -> viewTables.state().update(entry, updated);
      case Message message -> {
        if (viewTables.messages().add(entry, message)) {
          viewTables.contexts().addMessages(context, 1);
          viewTables.contexts().takeTitle(entry, message);
        }
      }
      case MessageUpdated updated -> correct(context, Correction.of(entry, updated));
      case MessageDeleted deleted -> correct(context, Correction.of(entry, deleted));
      case TaskEvent event -> fold(entry, entry.taskId(), event);
      case ContentDelta delta -> begin(entry, entry.taskId(), delta.blockId());
      case ContentComplete complete -> end(entry, entry.taskId(), complete.blockId());
      case ArtifactEvent artifact -> viewTables.artifacts().write(entry, artifact);
      case InputRequired required -> viewTables.inputs().add(entry, required.inputId());
      case InputReceived received -> viewTables.inputs().remove(context, received.inputId());
      case InputLapsed lapsed -> viewTables.inputs().remove(context, lapsed.inputId());
      case AuthRequired required -> viewTables.auths().add(entry, required.authId());
      case AuthCompleted completed -> viewTables.auths().remove(context, completed.authId());
      case AuthLapsed lapsed -> viewTables.auths().remove(context, lapsed.authId());
      case Usage usage -> viewTables.usage().add(entry, usage);
      case ErrorReported error -> fail(entry, entry.taskId(), error);
      case SubtaskEvent _, ThoughtEvent _, ToolEvent _, InternalRaw _ -> {}
    }
  }

  private void fold(Entry entry, @Nullable TaskId task, TaskEvent event) throws SQLException {
    var origin = entry.origin();
    if (origin == null || task == null) {
      return;
    }
    switch (event) {
      case TaskCreated created -> {
        viewTables.tasks().add(entry, origin, created);
        viewTables.contexts().countOpenTasks(entry.contextId());
      }
      case TaskStatus status -> {
        viewTables.tasks().setStatus(entry, task, status);
        if (status.status().terminal()) {
          end(entry, task);
        }
      }
      case TaskComplete complete -> {
        viewTables.tasks().complete(entry, task, complete);
        if (!task.equals(endedBefore)) {
          end(entry, task);
        }
      }
      case CancelRequested _ -> viewTables.tasks().requestCancel(entry, task);
      case TaskStored stored -> viewTables.stored().add(entry, task, stored);
      case TaskDeleted _ ->
          viewTables
              .stored()
              .remove(
                  entry.contextId(), new StoredTaskTable.RemovedTask(entry.position().seq(), task));
    }
  }

  private static @Nullable TaskId endedBy(Entry entry) {
    return entry.event() instanceof TaskStatus status && status.status().terminal()
        ? entry.taskId()
        : null;
  }

  private void end(Entry entry, TaskId task) throws SQLException {
    var context = entry.contextId();
    viewTables.artifacts().failUnfinished(entry, task);
    viewTables.inputs().removeOfTask(context, task);
    viewTables.auths().removeOfTask(context, task);
    viewTables.blocks().endAll(context, task);
    begun.clear();
    viewTables.contexts().countOpenTasks(context);
  }

  private void begin(Entry entry, @Nullable TaskId task, @Nullable BlockId block)
      throws SQLException {
    if (task != null && block != null && begun.add(new Begun(task, block))) {
      viewTables.blocks().begin(entry, task, block);
    }
  }

  private void end(Entry entry, @Nullable TaskId task, @Nullable BlockId block)
      throws SQLException {
    if (task != null && block != null) {
      begun.remove(new Begun(task, block));
      viewTables.blocks().end(entry.contextId(), task, block);
    }
  }

  private void fail(Entry entry, @Nullable TaskId task, ErrorReported error) throws SQLException {
    if (task != null && error.scope() == ErrorScope.TASK) {
      viewTables.tasks().fail(entry, task, error);
    }
  }

  private void correct(ContextId context, Correction correction) throws SQLException {
    correct(viewTables, context, correction);
  }

  /// Applies a correction, also one that was made after the position up to which the log is folded.
  static void correct(ViewTables viewTables, ContextId context, Correction correction)
      throws SQLException {
    if (viewTables.messages().correct(context, correction)) {
      viewTables.contexts().recomputeTitle(context);
      viewTables.contexts().countMessages(context);
    }
  }

  private void rewind(Entry entry, ContextRewound rewound) throws SQLException {
    var context = entry.contextId();
    var toSeq = viewTables.rewinds().add(entry, rewound);
    viewTables.artifacts().updateLatest(context);
    viewTables.inputs().removeAfter(context, toSeq);
    viewTables.auths().removeAfter(context, toSeq);
    viewTables.blocks().removeAfter(context, toSeq);
    viewTables.contexts().recomputeTitle(context);
    viewTables.contexts().countMessages(context);
    viewTables.contexts().countOpenTasks(context);
    begun.clear();
  }
}
