package dev.parley.door.agents;

import dev.parley.door.Access;
import dev.parley.door.Request;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.RootView;
import dev.parley.view.Roots.Which;
import dev.parley.view.Views;
import org.jspecify.annotations.Nullable;

/// Finds agents, which are root tasks, by their ids, and checks access.
final class AgentLookup {

  private final Views views;
  private final Access access;

  AgentLookup(Views views, Access access) {
    this.views = views;
    this.access = access;
  }

  /// The agent that the path names with `{id}`.
  ///
  /// @throws Rejection.NotFound also if the caller may not see it
  RootView find(Request request) {
    return find(request.principal(), new TaskId(request.path("id")));
  }

  /// The agent with this id.
  RootView find(String principal, TaskId id) {
    try {
      var agent = views.roots().find(id).orElseThrow(() -> unknown(id));
      access.check(principal, agent.task().contextId());
      return agent;
    } catch (Rejection.NotFound | Rejection.Gone notThere) {
      throw unknown(id);
    }
  }

  /// The number of running agents that the caller may see, or null if the views are unavailable.
  @Nullable Long countOpen(String principal) {
    try {
      return views.roots().count(access.owners(principal), Which.OPEN);
    } catch (Rejection.Unavailable unreadable) {
      return null;
    }
  }

  private static Rejection unknown(TaskId id) {
    return new Rejection.NotFound("no such agent: " + id);
  }
}
