package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
import dev.parley.a2a.WireTask;
import dev.parley.door.DoorParts;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.view.ContextView;
import dev.parley.view.Listing.Listed;
import dev.parley.view.TaskView;
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
  private static final int LISTED_MAX = 1_000;

  private final DoorParts parts;
  private final TaskForm form;
  private final Stored stored;

  public SessionTasks(DoorParts parts, TaskForm form) {
    this.parts = parts;
    this.form = form;
    this.stored = new Stored(parts.views());
  }

  /// A task with its position for sorting.
  private record Placed(long seq, WireTask task) {}

  /// All tasks of a session, oldest first.
  public List<WireTask> list(ContextId context, Version version) {
    var placed = new ArrayList<Placed>();
    var shared = shared(parts.views().context(context));
    var roots = roots(context, shared + 1, Long.MAX_VALUE);
    for (var task : roots.subList(Math.max(0, roots.size() - LISTED_MAX), roots.size())) {
      placed.add(new Placed(task.seq(), form.snapshot(task, version, null, true)));
    }
    var known = roots.stream().map(TaskView::taskId).collect(Collectors.toSet());
    for (var task : parts.views().keep().list(context)) {
      if (!known.contains(task.taskId()) && task.seq() > shared) {
        placed.add(new Placed(task.seq(), stored.task(context, task.task())));
      }
    }
    kept(context, version).ifPresent(placed::add);
    return placed.stream().sorted(Comparator.comparingLong(Placed::seq)).map(Placed::task).toList();
  }

  /// The task with the messages that the last rewind kept, or that the context shares with its
  /// source.
  public Optional<WireTask> kept(Version version, ContextId context) {
    return kept(context, version).map(Placed::task);
  }

  private Optional<Placed> kept(ContextId context, Version version) {
    var view = parts.views().context(context);
    var seq = Math.max(shared(view), parts.views().lastRewind(context).orElse(0L));
    if (seq == 0) {
      return Optional.empty();
    }
    var history = new LinkedHashMap<String, WireMessage>();
    for (var task : roots(context, 0, seq)) {
      var shown = form.snapshot(task, version, null, false).history();
      if (shown != null) {
        shown.forEach(message -> history.putIfAbsent(message.messageId(), message));
      }
    }
    return Optional.of(new Placed(seq, kept(view, seq, List.copyOf(history.values()))));
  }

  /// All current root tasks that began between two seqs, oldest first.
  private List<TaskView> roots(ContextId context, long from, long to) {
    var all = new ArrayList<TaskView>();
    for (var page = parts.views().roots(context, from, to);
        !page.isEmpty();
        page = parts.views().roots(context, page.getLast().seq() + 1, to)) {
      all.addAll(page);
    }
    return all;
  }

  private WireTask kept(ContextView view, long seq, List<WireMessage> history) {
    var context = view.contextId();
    var entry = parts.log().read(context, new Position(seq - 1, Integer.MAX_VALUE), 1).getFirst();
    var agent =
        Optional.of(parts.views().listing().find(view))
            .map(Listed::agent)
            .orElseGet(parts::standard);
    var marks = new Marks(context, new TaskId(context.value()), agent, view.owner(), true);
    return new WireTask(
        context.value(),
        context.value(),
        new WireStatus(WireState.COMPLETED, null, entry.timestamp()),
        List.of(),
        history,
        marks.ofTask().put(Marks.REWOUND, true));
  }

  private static long shared(ContextView view) {
    var from = view.forkedFrom();
    return from == null ? 0 : from.atSeq();
  }
}
