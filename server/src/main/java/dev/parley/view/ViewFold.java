package dev.parley.view;

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
import dev.parley.view.MessageTable.Correction;
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

  private final Tables tables;

  private record Begun(TaskId task, BlockId block) {}

  /// Blocks that have begun, so that not every delta needs a query.
  private final Set<Begun> begun = new HashSet<>();

  private ViewFold(Tables tables) {
    this.tables = tables;
  }

  /// Applies entries of one context that directly follow the last applied one.
  static void fold(Tables tables, List<Entry> entries) throws SQLException {
    if (!entries.isEmpty()) {
      var fold = new ViewFold(tables);
      tables.contexts().begin(entries.getFirst());
      var count = tables.numbers().count();
      for (var entry : entries) {
        fold.fold(entry);
        count.add(entry);
      }
      count.write(entries.getFirst().contextId());
      tables.contexts().moveTo(entries.getLast());
    }
  }

  private void fold(Entry entry) throws SQLException {
    var context = entry.contextId();
    switch (entry.event()) {
      case ContextCreated created -> tables.contexts().create(entry, created);
      case ContextUpdated updated -> tables.contexts().update(context, updated);
      case ContextRewound rewound -> rewind(entry, rewound);
      case ContextForked forked -> {
        tables.contexts().fork(entry, forked);
        tables.tasks().share(context, forked.atSeq());
        tables.stored().share(context, forked.atSeq());
      }
      case StateUpdated updated -> tables.state().update(entry, updated);
      case Message message -> {
        if (tables.messages().add(entry, message)) {
          tables.contexts().addMessages(context, 1);
          tables.contexts().entitle(entry, message);
        }
      }
      case MessageUpdated updated -> correct(context, Correction.of(entry, updated));
      case MessageDeleted deleted -> correct(context, Correction.of(entry, deleted));
      case TaskEvent event -> fold(entry, entry.taskId(), event);
      case ContentDelta delta -> begin(entry, entry.taskId(), delta.blockId());
      case ContentComplete complete -> end(entry, entry.taskId(), complete.blockId());
      case ArtifactEvent artifact -> tables.artifacts().write(entry, artifact);
      case InputRequired required -> tables.inputs().add(entry, required.inputId());
      case InputReceived received -> tables.inputs().remove(context, received.inputId());
      case InputLapsed lapsed -> tables.inputs().remove(context, lapsed.inputId());
      case AuthRequired required -> tables.auths().add(entry, required.authId());
      case AuthCompleted completed -> tables.auths().remove(context, completed.authId());
      case AuthLapsed lapsed -> tables.auths().remove(context, lapsed.authId());
      case Usage usage -> tables.usage().add(entry, usage);
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
        tables.tasks().add(entry, origin, created);
        tables.contexts().countOpenTasks(entry.contextId());
      }
      case TaskStatus status -> {
        tables.tasks().become(entry, task, status);
        if (status.status().terminal()) {
          end(entry, task);
        }
      }
      case TaskComplete complete -> {
        tables.tasks().complete(entry, task, complete);
        end(entry, task);
      }
      case CancelRequested _ -> tables.tasks().requestCancel(entry, task);
      case TaskStored stored -> tables.stored().add(entry, task, stored);
      case TaskDeleted _ ->
          tables
              .stored()
              .remove(entry.contextId(), new StoredTable.RemovedTask(entry.position().seq(), task));
    }
  }

  private void end(Entry entry, TaskId task) throws SQLException {
    var context = entry.contextId();
    tables.artifacts().failOf(entry, task);
    tables.inputs().removeOf(context, task);
    tables.auths().removeOf(context, task);
    tables.blocks().endOf(context, task);
    begun.clear();
    tables.contexts().countOpenTasks(context);
  }

  private void begin(Entry entry, @Nullable TaskId task, @Nullable BlockId block)
      throws SQLException {
    if (task != null && block != null && begun.add(new Begun(task, block))) {
      tables.blocks().begin(entry, task, block);
    }
  }

  private void end(Entry entry, @Nullable TaskId task, @Nullable BlockId block)
      throws SQLException {
    if (task != null && block != null) {
      begun.remove(new Begun(task, block));
      tables.blocks().end(entry.contextId(), task, block);
    }
  }

  private void fail(Entry entry, @Nullable TaskId task, ErrorReported error) throws SQLException {
    if (task != null && error.scope() == ErrorScope.TASK) {
      tables.tasks().fail(entry, task, error);
    }
  }

  private void correct(ContextId context, Correction correction) throws SQLException {
    correct(tables, context, correction);
  }

  /// Applies a correction, also one that was made after the position up to which the log is folded.
  static void correct(Tables tables, ContextId context, Correction correction) throws SQLException {
    if (tables.messages().correct(context, correction)) {
      tables.contexts().entitleAgain(context);
      tables.contexts().countMessages(context);
    }
  }

  private void rewind(Entry entry, ContextRewound rewound) throws SQLException {
    var context = entry.contextId();
    var toSeq = tables.rewinds().add(entry, rewound);
    tables.artifacts().chooseLatest(context);
    tables.inputs().removeAfter(context, toSeq);
    tables.auths().removeAfter(context, toSeq);
    tables.blocks().removeAfter(context, toSeq);
    tables.contexts().entitleAgain(context);
    tables.contexts().countMessages(context);
    tables.contexts().countOpenTasks(context);
    begun.clear();
  }
}
