package dev.parley.client;

import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The events of one message's task and its subtasks, up to the end of the task.
///
/// For one thread; any thread may [#close]. Closing the stream does not stop the task.
public final class TaskStream implements AutoCloseable {

  private final AcceptedMessage accepted;
  private final EventStream events;
  private @Nullable TaskState outcome;

  TaskStream(AcceptedMessage accepted, EventStream events) {
    this.accepted = accepted;
    this.events = events;
  }

  /// The ids that the server gave the message and its task.
  public AcceptedMessage accepted() {
    return accepted;
  }

  /// Waits for the next event of the task; empty after the one that ended it.
  public Optional<Entry> next() throws InterruptedException {
    while (outcome == null) {
      var next = events.next();
      if (next.isEmpty()) {
        return next;
      }
      if (belongs(next.get())) {
        outcome = outcome(next.get());
        if (outcome != null) {
          close();
        }
        return next;
      }
    }
    return Optional.empty();
  }

  /// Passes every event to `reader`, and returns the final state when the task has ended.
  ///
  /// Empty if the stream was closed before that.
  public Optional<TaskState> forEach(Consumer<Entry> reader) throws InterruptedException {
    for (var entry = next(); entry.isPresent(); entry = next()) {
      reader.accept(entry.get());
    }
    return outcome();
  }

  /// Waits for the end of the task and returns its text; if a sub-agent wrote the answer, that
  /// answer.
  public String text() throws InterruptedException {
    var text = new StringBuilder();
    var answer = new StringBuilder();
    var _ =
        forEach(
            entry -> {
              if (entry.event() instanceof ContentDelta delta
                  && accepted.taskId().equals(entry.taskId())) {
                text.append(delta.delta());
              }
              if (entry.event() instanceof TaskComplete complete
                  && complete.content() != null
                  && accepted.taskId().equals(entry.taskId())) {
                answer.append(complete.content());
              }
            });
    return text.isEmpty() ? answer.toString() : text.toString();
  }

  /// The final state of the task, if [#next] has reached it.
  public Optional<TaskState> outcome() {
    return Optional.ofNullable(outcome);
  }

  private boolean belongs(Entry entry) {
    var origin = entry.origin();
    return origin != null
        && (origin.taskId().equals(accepted.taskId())
            || origin.rootTaskId().equals(accepted.taskId()));
  }

  private @Nullable TaskState outcome(Entry entry) {
    if (!accepted.taskId().equals(entry.taskId())) {
      return null;
    }
    return switch (entry.event()) {
      case TaskComplete _ -> TaskState.COMPLETED;
      case TaskStatus status
          when status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED ->
          status.status();
      // No other event ends the task, also none of later versions.
      default -> null;
    };
  }

  @Override
  public void close() {
    events.close();
  }
}
