package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.log.OpenTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.Optional;

/// Releases the remote resources that tasks hold, see [Agent#release].
final class TaskResources {

  private static final System.Logger LOGGER = System.getLogger(TaskResources.class.getName());

  private final EventLog log;
  private final AgentDirectory agentDirectory;

  TaskResources(EventLog log, AgentDirectory agentDirectory) {
    this.log = log;
    this.agentDirectory = agentDirectory;
  }

  /// True if the task may hold remote resources.
  boolean held(ContextId context, TaskId task) {
    return resourceRelease(context, task).isPresent();
  }

  /// Releases the task's remote resources, if any. A failure does not prevent the task from ending.
  void release(ContextId context, TaskId task) {
    try {
      var release = resourceRelease(context, task).orElse(null);
      if (release != null) {
        release.release(context, task);
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

  /// The release function of the task's agent, if the task has started and has not ended.
  private Optional<Agent.ResourceRelease> resourceRelease(ContextId context, TaskId task) {
    try {
      return log.inspect(
              context,
              state -> state.openTask(task).filter(OpenTask::started).map(OpenTask::origin))
          .flatMap(origin -> Optional.ofNullable(agentDirectory.byId().get(origin.agentId())))
          .flatMap(Agent::release);
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return Optional.empty();
    }
  }
}
