package dev.parley.api.a2a;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.ApiDependencies;
import dev.parley.projection.ContextList.ListedContext;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/// The tasks of a context, shown as a session: its root tasks, external tasks and, if the context
/// was rewound or is a fork, one task with the messages before that point.
///
/// This last task has the context's id, as in kagent after a rewind. All tasks are projections of
/// the log. Together they have every message of the conversation once, without rewound messages.
public final class SessionTasks {

  /// How many root tasks are listed; the newest are kept.
  private static final int TASKS_MAX = 1_000;

  private final ApiDependencies parts;
  private final A2aTaskReader taskReader;
  private final ExternalTasks externalTasks;

  public SessionTasks(ApiDependencies parts, A2aTaskReader form) {
    this.parts = parts;
    this.taskReader = form;
    this.externalTasks = new ExternalTasks(parts.views());
  }

  /// A task with its position for sorting.
  private record PositionedTask(long seq, A2aTask task) {}

  /// All tasks of a session, oldest first.
  public List<A2aTask> list(ContextId context, A2aVersion version) {
    var placed = new ArrayList<PositionedTask>();
    var shared = sharedSeq(parts.views().context(context));
    var roots = roots(context, shared + 1, Long.MAX_VALUE);
    for (var task : roots.subList(Math.max(0, roots.size() - TASKS_MAX), roots.size())) {
      placed.add(new PositionedTask(task.seq(), taskReader.snapshot(task, version, null, true)));
    }
    var known = roots.stream().map(TaskView::taskId).collect(Collectors.toSet());
    for (var task : parts.views().storedTasks().list(context)) {
      if (!known.contains(task.taskId()) && task.seq() > shared) {
        placed.add(new PositionedTask(task.seq(), externalTasks.task(context, task.task())));
      }
    }
    retainedTask(context, version).ifPresent(placed::add);
    return placed.stream()
        .sorted(Comparator.comparingLong(PositionedTask::seq))
        .map(PositionedTask::task)
        .toList();
  }

  /// The task with the messages that the last rewind kept, or that the context shares with its
  /// source.
  public Optional<A2aTask> retainedTask(A2aVersion version, ContextId context) {
    return retainedTask(context, version).map(PositionedTask::task);
  }

  private Optional<PositionedTask> retainedTask(ContextId context, A2aVersion version) {
    var view = parts.views().context(context);
    var seq = Math.max(sharedSeq(view), parts.views().lastRewind(context).orElse(0L));
    if (seq == 0) {
      return Optional.empty();
    }
    var history = new LinkedHashMap<String, A2aMessage>();
    for (var task : roots(context, 0, seq)) {
      var shown = taskReader.snapshot(task, version, null, false).history();
      if (shown != null) {
        shown.forEach(message -> history.putIfAbsent(message.messageId(), message));
      }
    }
    return Optional.of(
        new PositionedTask(seq, retainedTask(view, seq, List.copyOf(history.values()))));
  }

  /// All current root tasks that began between two seqs, oldest first.
  private List<TaskView> roots(ContextId context, long from, long to) {
    var all = new ArrayList<TaskView>();
    for (var page = parts.views().rootTasks(context, from, to);
        !page.isEmpty();
        page = parts.views().rootTasks(context, page.getLast().seq() + 1, to)) {
      all.addAll(page);
    }
    return all;
  }

  private A2aTask retainedTask(ContextView view, long seq, List<A2aMessage> history) {
    var context = view.contextId();
    var entry = parts.log().read(context, new Position(seq - 1, Integer.MAX_VALUE), 1).getFirst();
    var agent =
        Optional.of(parts.views().contextList().find(view))
            .map(ListedContext::agent)
            .orElseGet(parts::defaultAgent);
    var marks = new KagentMetadata(context, new TaskId(context.value()), agent, view.owner(), true);
    return new A2aTask(
        context.value(),
        context.value(),
        new A2aStatus(A2aState.COMPLETED, null, entry.timestamp()),
        List.of(),
        history,
        marks.ofTask().put(KagentMetadata.REWOUND, true));
  }

  private static long sharedSeq(ContextView view) {
    var from = view.forkedFrom();
    return from == null ? 0 : from.atSeq();
  }
}
