package dev.parley.projection;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Queries for tasks that clients stored or removed; see [Views].
public final class StoredTaskQueries {

  /// Whether clients ever stored the task, and whether they ever removed it.
  public record StoredTaskHistory(boolean stored, boolean removed) {}

  private final Views views;

  StoredTaskQueries(Views views) {
    this.views = views;
  }

  /// Returns the task as it was last stored, unless it was removed or rewound.
  public Optional<ObjectNode> find(ContextId context, TaskId task) {
    return views.query(context, viewTables -> viewTables.stored().find(context, task));
  }

  /// Returns the stored tasks of a context, oldest first, at most 1,000.
  public List<StoredTask> list(ContextId context) {
    return views.query(context, viewTables -> viewTables.stored().list(context, Views.PAGE_MAX));
  }

  /// Returns what clients did with the task, rewound or not.
  public StoredTaskHistory history(ContextId context, TaskId task) {
    return views.query(
        context,
        viewTables ->
            new StoredTaskHistory(
                viewTables.stored().wasStored(context, task),
                viewTables.stored().wasRemoved(context, task)));
  }

  /// Returns the context that a stored task belongs to.
  public Optional<ContextId> contextOf(TaskId task) {
    return views.queryAll(viewTables -> viewTables.stored().contextOf(task));
  }
}
