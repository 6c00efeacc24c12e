package dev.parley.agent;

import dev.parley.model.ModelRetry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;

/// Creates the events that report a retry of a model call.
final class RetryEvents {

  /// In the metadata of a status: the model call is retried.
  static final String RETRY = "retry";

  private RetryEvents() {}

  /// The usage of the failed attempt, if it is known, and the status.
  static List<Event> events(ModelRetry modelRetry, String model) {
    var events = new ArrayList<Event>();
    if (modelRetry.usage() != null) {
      events.add(modelRetry.usage());
    }
    var metadata = Json.object();
    metadata
        .putObject(RETRY)
        .put("attempt", modelRetry.attempt())
        .put("maxAttempts", modelRetry.maxAttempts())
        .put("delayMs", modelRetry.delay().toMillis())
        .put("code", modelRetry.code().wire())
        .put("reason", modelRetry.reason())
        .put("model", model);
    var message =
        "Retrying ("
            + modelRetry.attempt()
            + " of "
            + modelRetry.maxAttempts()
            + "): "
            + modelRetry.reason();
    events.add(new TaskStatus(TaskState.WORKING, message, metadata));
    return events;
  }
}
