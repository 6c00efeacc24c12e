package dev.parley.agent;

import dev.parley.model.Retry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;

/// Creates the events that report a retry of a model call.
final class Retries {

  /// In the metadata of a status: the model call is retried.
  static final String RETRY = "retry";

  private Retries() {}

  /// The usage of the failed attempt, if it is known, and the status.
  static List<Event> events(Retry retry, String model) {
    var events = new ArrayList<Event>();
    if (retry.usage() != null) {
      events.add(retry.usage());
    }
    var metadata = Json.object();
    metadata
        .putObject(RETRY)
        .put("attempt", retry.attempt())
        .put("maxAttempts", retry.maxAttempts())
        .put("delayMs", retry.delay().toMillis())
        .put("code", retry.code().wire())
        .put("reason", retry.reason())
        .put("model", model);
    var message =
        "Retrying (" + retry.attempt() + " of " + retry.maxAttempts() + "): " + retry.reason();
    events.add(new TaskStatus(TaskState.WORKING, message, metadata));
    return events;
  }
}
