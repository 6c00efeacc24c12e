package dev.parley.agent;

import dev.parley.log.OpenTask;
import dev.parley.protocol.Event;
import dev.parley.protocol.Rejection;
import dev.parley.task.TaskRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Appends a model's output in batches while the model continues: events that arrive during an
/// append go into the next one, so that a model is not slowed down to one sync per token.
///
/// The beginning of a new task, see [dev.parley.task.Agent#beginsWithOutput], and the event of a
/// model call wait a moment for the model's first output. So the answer of a fast model is in the
/// same append, and a reader of a slow model sees them without a noticeable delay.
///
/// The lock guards the waiting events. [#close] ends the thread after all events are appended.
public final class EventBatcher implements AutoCloseable {

  private static final int WAITING_MAX = 4_096;
  private static final int APPEND_MAX = 1_024;

  /// How long a model call waits for the first output.
  private static final Duration FIRST_OUTPUT_WAIT = Duration.ofMillis(1);

  private final TaskRun taskRun;
  private final List<Event> waiting = new ArrayList<>();
  private final Thread thread;

  /// How many of the waiting events wait for output; -1 if none do.
  private int heldBack = -1;

  private boolean writingHeldBack;
  private boolean writing;
  private boolean closed;
  private @Nullable RuntimeException failure;

  public EventBatcher(TaskRun taskRun) {
    this.taskRun = taskRun;
    if (!taskRun.begun()) {
      heldBack = 0; // The status `working`, which the first append contains.
    }
    this.thread =
        taskRun
            .sources()
            .threads()
            .unstarted("event-batcher-" + taskRun.origin().taskId(), this::writeAll);
    thread.start();
    taskRun.setHeldBackWriter(this::writeHeldBackNow);
  }

  /// Adds the events of a model call that is about to be made. They are appended unless there are
  /// entries for the task that [TaskRun#readNewEntries] has not returned; in that case all output
  /// is rejected with [Rejection.Stale] until [#resume], and the agent's thread is interrupted.
  synchronized void writeModelCall(List<? extends Event> events) {
    check();
    waiting.addAll(events);
    heldBack = waiting.size();
    notifyAll();
  }

  /// Accepts output again after a model call was not appended. False if that is not the case.
  ///
  /// Clears the interrupt of the agent's thread. It may also come from a stop of the run, so the
  /// caller checks [TaskRun#cancelled] afterwards.
  synchronized boolean resume() {
    if (!(failure instanceof Rejection.Stale)) {
      return false;
    }
    failure = null;
    Thread.interrupted();
    return true;
  }

  /// Adds an event, which will be durable soon. Blocks only if too many events are waiting.
  void write(Event event) throws InterruptedException {
    add(List.of(event), WAITING_MAX);
  }

  /// Adds events that must be in one append.
  void writeTogether(List<? extends Event> events) throws InterruptedException {
    // All waiting events then fit into the next append.
    add(events, APPEND_MAX);
  }

  private synchronized void add(List<? extends Event> events, int max) throws InterruptedException {
    while (!waiting.isEmpty() && waiting.size() + events.size() > max && failure == null) {
      wait();
    }
    check();
    waiting.addAll(events);
    notifyAll();
    if (heldBack >= 0) {
      LockSupport.unpark(thread);
    }
  }

  /// Ends the wait for output. Returns when the events that waited for it are durable or rejected.
  private void writeHeldBackNow() {
    LockSupport.unpark(thread);
    synchronized (this) {
      try {
        while ((heldBack >= 0 || writingHeldBack) && failure == null) {
          wait();
        }
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }
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
      if (heldBack >= 0) {
        LockSupport.unpark(thread);
      }
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
      if (isHeldBack()) {
        writeHeldBack();
        taskRun.reachFailPoint("begun");
      }
      while (awaitEvents()) {
        if (isHeldBack()) {
          writeHeldBack();
        } else {
          taskRun.emit(takeWaiting());
        }
      }
    } catch (InterruptedException stopped) {
      fail(new IllegalStateException("the writer thread was interrupted", stopped));
    } catch (RuntimeException refused) {
      fail(refused);
      if (!isWorking()) {
        // Otherwise the agent would learn it from its next output, perhaps minutes later.
        taskRun.interruptWork();
      }
    } finally {
      releaseHeldBack();
    }
  }

  /// False if the task has not begun or has ended, or if that is not known.
  private boolean isWorking() {
    var task = taskRun.origin().taskId();
    try {
      return taskRun.inspect(state -> state.openTask(task).filter(OpenTask::started).isPresent());
    } catch (Rejection unreadable) {
      return false;
    }
  }

  private synchronized void releaseHeldBack() {
    heldBack = -1;
    writingHeldBack = false;
    notifyAll();
  }

  /// Returns when there are events to append; false at the end.
  private synchronized boolean awaitEvents() throws InterruptedException {
    writing = false;
    writingHeldBack = false;
    notifyAll();
    while (waiting.isEmpty() && !closed) {
      wait();
    }
    return !waiting.isEmpty();
  }

  private synchronized boolean isHeldBack() {
    return heldBack >= 0;
  }

  private void writeHeldBack() {
    if (!hasOutput()) {
      // Output ends the pause. A pause that ends early costs only another append.
      taskRun.sources().time().pauseBriefly(FIRST_OUTPUT_WAIT);
    }
    var next = takeHeldBack();
    if (next.isEmpty()) {
      taskRun.emit(next); // The task begins.
    } else if (!taskRun.emitUnlessNewEntries(next)) {
      rejectCall();
    }
  }

  /// Nothing of the model call will be used. Under the lock, so that [#resume] follows the interrupt.
  private synchronized void rejectCall() {
    fail(new Rejection.Stale("there are new entries for the task"));
    taskRun.interruptWork();
  }

  private synchronized boolean hasOutput() {
    return waiting.size() > heldBack || closed;
  }

  private synchronized List<Event> takeHeldBack() {
    heldBack = -1;
    writingHeldBack = true;
    return takeWaiting();
  }

  private synchronized List<Event> takeWaiting() {
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
