package dev.parley.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A bounded queue of the output of a running program, for the thread that processes it.
///
/// The lock guards the queue. A writer waits while the queue is full.
final class Mailbox {

  /// An item of the queue.
  sealed interface Mail {

    /// A line; `cut` if it was longer than the limit.
    record Line(String text, boolean cut) implements Mail {}

    /// The output of the program is closed.
    record Silent() implements Mail {}

    /// The program has ended; processes that it started may still write output.
    record Gone() implements Mail {}
  }

  private static final int LINES_MAX = 10_000;
  private static final long CHARACTERS_MAX = 32L << 20;
  private static final int TAKEN_MAX = 1_000;

  private final List<Mail> waiting = new ArrayList<>();
  private long characters;
  private boolean closed;

  /// Adds an item; does nothing after [#close].
  synchronized void put(Mail mail) throws InterruptedException {
    while ((waiting.size() >= LINES_MAX || characters > CHARACTERS_MAX) && !closed) {
      wait();
    }
    if (!closed) {
      waiting.add(mail);
      characters += size(mail);
      notifyAll();
    }
  }

  /// The next items; empty if `patience` runs out first.
  synchronized List<Mail> take(Duration patience) throws InterruptedException {
    var end = System.nanoTime() + patience.toNanos();
    while (waiting.isEmpty()) {
      var left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return List.of();
      }
      wait(left);
    }
    var some = waiting.subList(0, Math.min(waiting.size(), TAKEN_MAX));
    var taken = List.copyOf(some);
    some.clear();
    taken.forEach(mail -> characters -= size(mail));
    notifyAll();
    return taken;
  }

  /// Closes the queue: nothing is taken from it any more.
  synchronized void close() {
    closed = true;
    notifyAll();
  }

  private static int size(Mail mail) {
    return mail instanceof Mail.Line line ? line.text().length() : 0;
  }
}
