package dev.parley.protocol;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A pause: tasks to which it applies do not start or continue. `target` is the agent, person or
/// tenant; null if everything is paused. `waitingTasks` is the number of open tasks that wait for
/// the end of the pause.
public record PauseView(
    String id,
    PauseScope scope,
    @Nullable String target,
    String pausedBy,
    Instant since,
    @Nullable String reason,
    int waitingTasks) {

  /// What a pause applies to.
  public enum PauseScope implements WireName {
    ALL,
    TENANT,
    PERSON,
    AGENT
  }

  /// The same pause with this number of waiting tasks.
  public PauseView withWaitingTasks(int count) {
    return new PauseView(id, scope, target, pausedBy, since, reason, count);
  }
}
