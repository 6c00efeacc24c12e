package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.api.ContextAccess;
import dev.parley.identity.Action;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;

/// Finds the root tasks of an agent that a caller may see.
final class A2aTaskLookup {

  private final Views views;
  private final ContextAccess access;

  A2aTaskLookup(Views views, ContextAccess access) {
    this.views = views;
    this.access = access;
  }

  /// The task with this id, if the caller may do this to its context.
  ///
  /// @throws A2aException if there is none, or it was rewound, belongs to another agent or tenant,
  ///     or the caller may not see it
  TaskView find(A2aCaller caller, Action action, String id) {
    if (!Id.valid(id)) {
      throw notFound(id);
    }
    var task = new TaskId(id);
    try {
      var context = views.contextOf(task).orElseThrow(() -> notFound(id));
      access.check(caller.identity(), action, context);
      var found = views.task(context, task).orElseThrow(() -> notFound(id));
      if (found.parentTaskId() != null || !visible(caller, found)) {
        throw notFound(id);
      }
      return found;
    } catch (Rejection.NotFound | Rejection.Gone notThere) {
      throw notFound(id);
    }
  }

  /// True if the task is visible to the caller. A caller that names a tenant sees only that
  /// tenant's tasks.
  static boolean visible(A2aCaller caller, TaskView task) {
    return task.agentId().equals(caller.agent())
        && (caller.tenant() == null || caller.tenant().equals(tenant(task)));
  }

  /// Rejects a context that the caller may not change, or that has tasks of another tenant, as if it
  /// did not exist.
  ///
  /// @throws Rejection.NotFound if the context does not exist or is not visible
  /// @throws Rejection.Gone if it was deleted
  void check(A2aCaller caller, ContextId context) {
    access.check(caller.identity(), Action.WRITE, context);
    var tenant = caller.tenant();
    if (tenant == null) {
      return;
    }
    for (var page = views.rootTasks(context, 0, Long.MAX_VALUE);
        !page.isEmpty();
        page = views.rootTasks(context, page.getLast().seq() + 1, Long.MAX_VALUE)) {
      if (page.stream().anyMatch(task -> !tenant.equals(tenant(task)))) {
        throw new Rejection.NotFound("no such context: " + context);
      }
    }
  }

  private static String tenant(TaskView task) {
    return task.facts()
        .extension(A2aMessageMapper.METADATA_KEY)
        .map(own -> own.path("tenant").asString(""))
        .orElse("");
  }

  private static A2aException notFound(String id) {
    return new A2aException(A2aError.TASK_NOT_FOUND, "Task not found: " + id);
  }
}
