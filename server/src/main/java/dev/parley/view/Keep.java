package dev.parley.view;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Queries for tasks that clients stored or removed; see [Views].
public final class Keep {

  /// Whether clients ever stored the task, and whether they ever removed it.
  public record Fate(boolean stored, boolean removed) {}

  private final Views views;

  Keep(Views views) {
    this.views = views;
  }

  /// Returns the task as it was last stored, unless it was removed or rewound.
  public Optional<ObjectNode> find(ContextId context, TaskId task) {
    return views.answer(context, tables -> tables.stored().find(context, task));
  }

  /// Returns the stored tasks of a context, oldest first, at most 1,000.
  public List<StoredTask> list(ContextId context) {
    return views.answer(context, tables -> tables.stored().list(context, Views.PAGE_MAX));
  }

  /// Returns what clients did with the task, rewound or not.
  public Fate fate(ContextId context, TaskId task) {
    return views.answer(
        context,
        tables ->
            new Fate(
                tables.stored().wasStored(context, task),
                tables.stored().wasRemoved(context, task)));
  }

  /// Returns the context that a stored task belongs to.
  public Optional<ContextId> contextOf(TaskId task) {
    return views.answerAll(tables -> tables.stored().contextOf(task));
  }
}
