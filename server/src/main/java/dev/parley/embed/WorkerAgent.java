package dev.parley.embed;

import dev.parley.task.Agent;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import java.time.Duration;

/// Runs tasks with a [Worker].
final class WorkerAgent implements Agent {

  private final Worker worker;
  private final Duration patience;

  /// `patience` is how long to wait for an answer, unless the question has its own timeout.
  WorkerAgent(Worker worker, Duration patience) {
    this.worker = worker;
    this.patience = patience;
  }

  @Override
  public Outcome work(Run run) throws InterruptedException {
    var assignment = new Assignment(run, patience);
    try {
      worker.execute(assignment);
    } catch (WorkFailed failed) {
      return new Outcome.Failed(
          failed.code(), String.valueOf(failed.getMessage()), failed.retryable());
    }
    return new Outcome.Completed(assignment.answer());
  }
}
