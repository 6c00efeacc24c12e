package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.door.Access;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.TaskView;
import dev.parley.view.Views;

/// Finds the root tasks of an agent that a caller may see.
final class Lookup {

  private final Views views;
  private final Access access;

  Lookup(Views views, Access access) {
    this.views = views;
    this.access = access;
  }

  /// The task with this id.
  ///
  /// @throws A2aException if there is none, or it was rewound, belongs to another agent or tenant,
  ///     or the caller may not see it
  TaskView find(Caller caller, String id) {
    if (!Id.valid(id)) {
      throw unknown(id);
    }
    var task = new TaskId(id);
    try {
      var context = views.contextOf(task).orElseThrow(() -> unknown(id));
      access.check(caller.principal(), context);
      var found = views.task(context, task).orElseThrow(() -> unknown(id));
      if (found.parentTaskId() != null || !visible(caller, found)) {
        throw unknown(id);
      }
      return found;
    } catch (Rejection.NotFound | Rejection.Gone notThere) {
      throw unknown(id);
    }
  }

  /// True if the task is visible to the caller. A caller that names a tenant sees only that
  /// tenant's tasks.
  static boolean visible(Caller caller, TaskView task) {
    return task.agentId().equals(caller.agent())
        && (caller.tenant() == null || caller.tenant().equals(tenant(task)));
  }

  /// Rejects a context that the caller may not see, or that has tasks of another tenant, as if it
  /// did not exist.
  ///
  /// @throws Rejection.NotFound if the context does not exist or is not visible
  /// @throws Rejection.Gone if it was deleted
  void check(Caller caller, ContextId context) {
    access.check(caller.principal(), context);
    var tenant = caller.tenant();
    if (tenant == null) {
      return;
    }
    for (var page = views.roots(context, 0, Long.MAX_VALUE);
        !page.isEmpty();
        page = views.roots(context, page.getLast().seq() + 1, Long.MAX_VALUE)) {
      if (page.stream().anyMatch(task -> !tenant.equals(tenant(task)))) {
        throw new Rejection.NotFound("no such context: " + context);
      }
    }
  }

  private static String tenant(TaskView task) {
    var metadata = task.metadata();
    return metadata == null ? "" : metadata.path(Speech.KEPT).path("tenant").asString("");
  }

  private static A2aException unknown(String id) {
    return new A2aException(A2aError.TASK_NOT_FOUND, "Task not found: " + id);
  }
}
