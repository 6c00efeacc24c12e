package dev.parley.agent;

import dev.parley.model.ModelRetry;
import dev.parley.protocol.Event;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;

/// Creates the events that report a retry of a model call.
final class RetryEvents {

  private RetryEvents() {}

  /// The usage of the failed attempt, if it is known, and the status.
  static List<Event> events(ModelRetry modelRetry, String model) {
    var events = new ArrayList<Event>();
    if (modelRetry.usage() != null) {
      events.add(modelRetry.usage());
    }
    var retry =
        new StatusFacts.Retry(
            modelRetry.attempt(),
            modelRetry.maxAttempts(),
            modelRetry.delay().toMillis(),
            modelRetry.code().wire(),
            modelRetry.reason(),
            model);
    var message =
        "Retrying ("
            + modelRetry.attempt()
            + " of "
            + modelRetry.maxAttempts()
            + "): "
            + modelRetry.reason();
    events.add(new TaskStatus(TaskState.WORKING, message, retry.toMetadata()));
    return events;
  }
}
