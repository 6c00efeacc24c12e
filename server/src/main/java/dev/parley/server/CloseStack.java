package dev.parley.server;

import java.util.ArrayDeque;
import java.util.Deque;

/// What was opened so far, so that all of it can be closed in reverse order. For one thread.
final class CloseStack implements AutoCloseable {

  private final Deque<Runnable> actions = new ArrayDeque<>();

  /// Adds an action that [#close] runs before all earlier ones.
  void add(Runnable action) {
    actions.push(action);
  }

  /// Leaves everything open: somebody else closes it from now on.
  void release() {
    actions.clear();
  }

  /// Closes everything, also after an action that failed. The first failure is thrown at the end.
  @Override
  public void close() {
    RuntimeException first = null;
    while (!actions.isEmpty()) {
      try {
        actions.pop().run();
      } catch (RuntimeException failed) {
        if (first == null) {
          first = failed;
        } else {
          first.addSuppressed(failed);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
