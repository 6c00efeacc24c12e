package dev.parley.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What comes from a running program, in order, for the thread that works on it.
///
/// Its lock guards what waits. Whoever brings more than there is room for waits.
final class Mailbox {

  /// Something that came.
  sealed interface Mail {

    /// A line; `cut` if it was longer than what is kept of it.
    record Line(String text, boolean cut) implements Mail {}

    /// The program will print no more.
    record Silent() implements Mail {}

    /// The program has ended, though something that it started may still print.
    record Gone() implements Mail {}
  }

  private static final int LINES_MAX = 10_000;
  private static final long CHARACTERS_MAX = 32L << 20;
  private static final int TAKEN_MAX = 1_000;

  private final List<Mail> waiting = new ArrayList<>();
  private long characters;
  private boolean closed;

  /// Adds something; after [#close], forgets it.
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

  /// The next things that came; none if `patience` ran out first.
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

  /// Nobody takes anything any more.
  synchronized void close() {
    closed = true;
    notifyAll();
  }

  private static int size(Mail mail) {
    return mail instanceof Mail.Line line ? line.text().length() : 0;
  }
}
