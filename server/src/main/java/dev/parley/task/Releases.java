package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.Optional;

/// Has agents let go of what tasks hold elsewhere, before the tasks end without success.
final class Releases {

  private static final System.Logger LOGGER = System.getLogger(Releases.class.getName());

  private final EventLog log;
  private final Agents agents;

  Releases(EventLog log, Agents agents) {
    this.log = log;
    this.agents = agents;
  }

  /// Who lets go for this task, if it has begun, has not ended, and somebody is to.
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

  /// Lets go, if somebody is to. What cannot be let go of keeps no task from ending.
  void letGo(ContextId context, TaskId task) {
    try {
      var release = of(context, task).orElse(null);
      if (release != null) {
        release.letGo(context, task);
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      // Nothing is known of it any more.
    } catch (RuntimeException failed) {
      LOGGER.log(
          System.Logger.Level.WARNING, "what task " + task + " holds was not let go of", failed);
    }
  }
}
