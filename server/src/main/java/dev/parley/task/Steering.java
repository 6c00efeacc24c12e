package dev.parley.task;

import dev.parley.protocol.MessageEvent.Message;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Messages that reach a task while it works. None is lost: either the agent gets it, or it was refused
/// because the agent was done.
///
/// Its lock guards everything; nobody holds it while appending.
public final class Steering {

  private final List<Message> waiting = new ArrayList<>();
  private int arriving;
  private boolean done;

  Steering() {}

  /// The messages that came since the last call, oldest first.
  public synchronized List<Message> take() {
    var taken = List.copyOf(waiting);
    waiting.clear();
    return taken;
  }

  /// True if no message waits, and from then on none will; false if the agent should go on.
  public synchronized boolean finish() throws InterruptedException {
    while (arriving > 0) {
      wait();
    }
    done = waiting.isEmpty();
    return done;
  }

  /// Announces a message that is about to be appended. False if it comes too late.
  synchronized boolean announce() {
    if (done) {
      return false;
    }
    arriving++;
    return true;
  }

  /// Hands over the announced message, or takes the announcement back.
  synchronized void arrive(@Nullable Message message) {
    arriving--;
    if (message != null) {
      waiting.add(message);
    }
    notifyAll();
  }
}
