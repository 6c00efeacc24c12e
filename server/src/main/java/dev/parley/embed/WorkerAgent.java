package dev.parley.embed;

import dev.parley.task.Agent;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import java.time.Duration;

/// Runs tasks with a [Worker].
final class WorkerAgent implements Agent {

  private final Worker worker;
  private final Duration inputTimeout;

  /// `patience` is how long to wait for an answer, unless the question has its own timeout.
  WorkerAgent(Worker worker, Duration patience) {
    this.worker = worker;
    this.inputTimeout = patience;
  }

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    var workerTask = new WorkerTask(taskRun, inputTimeout);
    try {
      worker.execute(workerTask);
    } catch (WorkFailed failed) {
      return new TaskOutcome.Failed(
          failed.code(), String.valueOf(failed.getMessage()), failed.retryable());
    }
    return new TaskOutcome.Completed(workerTask.answer());
  }
}
