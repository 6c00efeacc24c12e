package dev.parley.view;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Answers questions about tasks that clients stored or removed; see [Views].
public final class Keep {

  /// What clients ever did with a task: whether they stored it here, and whether they removed it.
  public record Fate(boolean stored, boolean removed) {}

  private final Views views;

  Keep(Views views) {
    this.views = views;
  }

  /// The task as it was last stored, unless it was removed or rewound.
  public Optional<ObjectNode> find(ContextId context, TaskId task) {
    return views.answer(context, tables -> tables.stored().find(context, task));
  }

  /// The tasks of a context that are stored, oldest first; at most a thousand.
  public List<StoredTask> list(ContextId context) {
    return views.answer(context, tables -> tables.stored().list(context, Views.PAGE_MAX));
  }

  /// What was ever done, whether it counts or not.
  public Fate fate(ContextId context, TaskId task) {
    return views.answer(
        context,
        tables ->
            new Fate(
                tables.stored().wasStored(context, task),
                tables.stored().wasRemoved(context, task)));
  }

  /// The context that a stored task belongs to.
  public Optional<ContextId> contextOf(TaskId task) {
    return views.answerAll(tables -> tables.stored().contextOf(task));
  }
}
