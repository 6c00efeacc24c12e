package dev.parley.external.cli;

import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A bounded queue of the output of a running program, for the thread that processes it.
///
/// The lock guards the queue. A writer waits while the queue is full.
final class ProgramOutput {

  /// An item of the queue.
  sealed interface OutputItem {

    /// A line; `cut` if it was longer than the limit.
    record OutputLine(String text, boolean cut) implements OutputItem {}

    /// The output of the program is closed.
    record OutputClosed() implements OutputItem {}

    /// The program has ended; processes that it started may still write output.
    record ProcessExited() implements OutputItem {}
  }

  private static final int LINES_MAX = 10_000;
  private static final long CHARACTERS_MAX = 32L << 20;
  private static final int TAKEN_MAX = 1_000;

  private final Time time;
  private final List<OutputItem> waiting = new ArrayList<>();
  private long characters;
  private boolean closed;

  ProgramOutput(Time time) {
    this.time = time;
  }

  /// Adds an item; does nothing after [#close].
  synchronized void put(OutputItem outputItem) throws InterruptedException {
    while ((waiting.size() >= LINES_MAX || characters > CHARACTERS_MAX) && !closed) {
      wait();
    }
    if (!closed) {
      waiting.add(outputItem);
      characters += size(outputItem);
      notifyAll();
    }
  }

  /// The next items; empty if `patience` runs out first.
  synchronized List<OutputItem> take(Duration patience) throws InterruptedException {
    var deadline = time.deadline(patience);
    while (waiting.isEmpty()) {
      if (time.remaining(deadline) <= 0) {
        return List.of();
      }
      time.waitUntil(this, deadline);
    }
    var some = waiting.subList(0, Math.min(waiting.size(), TAKEN_MAX));
    var taken = List.copyOf(some);
    some.clear();
    taken.forEach(outputItem -> characters -= size(outputItem));
    notifyAll();
    return taken;
  }

  /// Closes the queue: nothing is taken from it any more.
  synchronized void close() {
    closed = true;
    notifyAll();
  }

  private static int size(OutputItem outputItem) {
    return outputItem instanceof OutputItem.OutputLine outputLine ? outputLine.text().length() : 0;
  }
}
