package dev.parley.agent;

import dev.parley.protocol.Event;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Appends a model's output in batches while the model continues: events that arrive during an
/// append go into the next one, so that a model is not slowed down to one sync per token.
///
/// The lock guards the waiting events. [#close] ends the thread after all events are appended.
public final class EventBatcher implements AutoCloseable {

  private static final int WAITING_MAX = 4_096;
  private static final int APPEND_MAX = 1_024;

  private final TaskRun taskRun;
  private final List<Event> waiting = new ArrayList<>();
  private final Thread thread;
  private boolean writing;
  private boolean closed;
  private @Nullable RuntimeException failure;

  public EventBatcher(TaskRun taskRun) {
    this.taskRun = taskRun;
    this.thread =
        taskRun
            .sources()
            .threads()
            .start("event-batcher-" + taskRun.origin().taskId(), this::writeAll);
  }

  /// Adds an event, which will be durable soon. Blocks only if too many events are waiting.
  synchronized void write(Event event) throws InterruptedException {
    while (waiting.size() >= WAITING_MAX && failure == null) {
      wait();
    }
    check();
    waiting.add(event);
    notifyAll();
  }

  /// Returns when all events that were added are durable.
  public synchronized void flush() throws InterruptedException {
    while ((!waiting.isEmpty() || writing) && failure == null) {
      wait();
    }
    check();
  }

  /// Returns after all events that were added are appended, even if the run is stopped.
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    var interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException stopped) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void check() {
    if (failure != null) {
      throw failure;
    }
  }

  private void writeAll() {
    try {
      for (var next = nextBatch(); !next.isEmpty(); next = nextBatch()) {
        taskRun.emit(next);
      }
    } catch (InterruptedException stopped) {
      fail(new IllegalStateException("the writer thread was interrupted", stopped));
    } catch (RuntimeException refused) {
      fail(refused);
    }
  }

  /// The next events to append; empty at the end.
  private synchronized List<Event> nextBatch() throws InterruptedException {
    writing = false;
    notifyAll();
    while (waiting.isEmpty() && !closed) {
      wait();
    }
    var some = waiting.subList(0, Math.min(waiting.size(), APPEND_MAX));
    var next = List.copyOf(some);
    some.clear();
    writing = !next.isEmpty();
    return next;
  }

  private synchronized void fail(RuntimeException reason) {
    failure = reason;
    waiting.clear();
    notifyAll();
  }
}
