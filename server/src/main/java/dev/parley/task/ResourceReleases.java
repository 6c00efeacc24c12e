package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.Optional;

/// Calls agents to release the remote resources of tasks, before those tasks end without success.
final class ResourceReleases {

  private static final System.Logger LOGGER = System.getLogger(ResourceReleases.class.getName());

  private final EventLog log;
  private final AgentDirectory agentDirectory;

  ResourceReleases(EventLog log, AgentDirectory agentDirectory) {
    this.log = log;
    this.agentDirectory = agentDirectory;
  }

  /// The release function for this task, if the task has started, has not ended, and its agent has
  /// one.
  Optional<Agent.ResourceRelease> find(ContextId context, TaskId task) {
    try {
      return log.inspect(
              context,
              state -> state.openTask(task).filter(open -> open.started()).map(t -> t.origin()))
          .flatMap(origin -> Optional.ofNullable(agentDirectory.byId().get(origin.agentId())))
          .flatMap(Agent::release);
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }

  /// Releases the task's remote resources, if any. A failure does not prevent the task from ending.
  void release(ContextId context, TaskId task) {
    try {
      var resourceRelease = find(context, task).orElse(null);
      if (resourceRelease != null) {
        resourceRelease.release(context, task);
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
