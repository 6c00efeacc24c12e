package dev.parley.api.agents;

import dev.parley.api.ContextAccess;
import dev.parley.http.Request;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.projection.RootTaskQueries.RootTaskScope;
import dev.parley.projection.RootTaskView;
import dev.parley.projection.Views;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import org.jspecify.annotations.Nullable;

/// Finds agents, which are root tasks, by their ids, and checks access.
final class AgentLookup {

  private final Views views;
  private final ContextAccess access;

  AgentLookup(Views views, ContextAccess access) {
    this.views = views;
    this.access = access;
  }

  /// The agent that the path names with `{id}`.
  ///
  /// @throws Rejection.NotFound also if the caller may not see it
  RootTaskView find(Request request) {
    return find(request.caller(), request.action(), new TaskId(request.path("id")));
  }

  /// The agent with this id, if the caller may do this to its context.
  RootTaskView find(Caller caller, Action action, TaskId id) {
    try {
      var agent = views.rootTasks().find(id).orElseThrow(() -> unknown(id));
      access.check(caller, action, agent.task().contextId());
      return agent;
    } catch (Rejection.NotFound | Rejection.Gone notThere) {
      throw unknown(id);
    }
  }

  /// The number of running agents that the caller may see, or null if the views are unavailable.
  @Nullable Long countOpen(Caller caller) {
    try {
      return views.rootTasks().count(access.visible(caller), RootTaskScope.OPEN);
    } catch (Rejection.Unavailable unreadable) {
      return null;
    }
  }

  private static Rejection unknown(TaskId id) {
    return new Rejection.NotFound("no such agent: " + id);
  }
}
