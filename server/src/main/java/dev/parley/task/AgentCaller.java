package dev.parley.task;

import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import java.util.Optional;

/// Calls the agent of a task on the thread of its run. Thread-safe.
final class AgentCaller {

  private static final System.Logger LOGGER = System.getLogger(AgentCaller.class.getName());

  /// How often one run of a task continues after a failure of the store.
  private static final int STORE_FAILURES_MAX = 10;

  private final TaskStatusWriter statusWriter;

  AgentCaller(TaskStatusWriter statusWriter) {
    this.statusWriter = statusWriter;
  }

  /// Lets an agent that only delegates take its next step; empty if it must begin to work.
  static Optional<TaskOutcome> decide(TaskRun taskRun, Agent agent) {
    try {
      return taskRun.beginWork() ? agent.decide(taskRun) : Optional.of(interrupted());
    } catch (InterruptedException stopped) {
      return Optional.of(interrupted());
    } finally {
      taskRun.endWork();
    }
  }

  /// Calls the agent. If the store fails meanwhile, calls it again when the store is available: the
  /// log has all that the agent needs to continue, as after a start of the server.
  TaskOutcome perform(TaskRun taskRun, Agent agent) {
    var failures = 0;
    while (true) {
      try {
        return performOnce(taskRun, agent);
      } catch (Rejection.Unavailable storeDown) {
        failures++;
        if (failures > STORE_FAILURES_MAX || !agent.resumes() || !statusWriter.resume(taskRun)) {
          var reason = String.valueOf(storeDown.getMessage());
          return new TaskOutcome.Failed(ErrorCode.INTERNAL, reason, true);
        }
      }
    }
  }

  private static TaskOutcome performOnce(TaskRun taskRun, Agent agent) {
    try {
      return taskRun.beginWork() ? agent.work(taskRun) : interrupted();
    } catch (InterruptedException stopped) {
      return interrupted();
    } catch (Rejection.Unavailable storeDown) {
      throw storeDown;
    } catch (Rejection refused) {
      // Usually the task has ended already, and then nothing is written.
      return new TaskOutcome.Failed(ErrorCode.INTERNAL, String.valueOf(refused.getMessage()), true);
    } catch (Throwable broken) { // The root of a thread, nearly: an agent's bug must end its task.
      LOGGER.log(
          System.Logger.Level.ERROR, "the agent of task " + taskRun.taskId() + " failed", broken);
      return new TaskOutcome.Failed(ErrorCode.INTERNAL, "the agent failed unexpectedly", false);
    } finally {
      taskRun.endWork();
    }
  }

  private static TaskOutcome interrupted() {
    return new TaskOutcome.Failed(ErrorCode.INTERRUPTED, "the task was interrupted", true);
  }
}
