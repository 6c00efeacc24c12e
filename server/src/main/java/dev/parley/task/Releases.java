package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.Optional;

/// Calls agents to release the remote resources of tasks, before those tasks end without success.
final class Releases {

  private static final System.Logger LOGGER = System.getLogger(Releases.class.getName());

  private final EventLog log;
  private final Agents agents;

  Releases(EventLog log, Agents agents) {
    this.log = log;
    this.agents = agents;
  }

  /// The release function for this task, if the task has started, has not ended, and its agent has
  /// one.
  Optional<Agent.Release> of(ContextId context, TaskId task) {
    try {
      return log.inspect(
              context,
              state -> state.openTask(task).filter(open -> open.started()).map(t -> t.origin()))
          .flatMap(origin -> Optional.ofNullable(agents.byId().get(origin.agentId())))
          .flatMap(Agent::release);
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }

  /// Releases the task's remote resources, if any. A failure does not prevent the task from ending.
  void letGo(ContextId context, TaskId task) {
    try {
      var release = of(context, task).orElse(null);
      if (release != null) {
        release.letGo(context, task);
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // The context was deleted.
    } catch (RuntimeException failed) {
      LOGGER.log(
          System.Logger.Level.WARNING,
          "the resources of task " + task + " were not released",
          failed);
    }
  }
}
