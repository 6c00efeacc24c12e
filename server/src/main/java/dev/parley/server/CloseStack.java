package dev.parley.server;

import java.util.ArrayDeque;
import java.util.Deque;

/// Collects close actions and runs them in reverse order. For one thread.
final class CloseStack implements AutoCloseable {

  private final Deque<Runnable> actions = new ArrayDeque<>();

  /// Adds an action that [#close] runs before all earlier ones.
  void add(Runnable action) {
    actions.push(action);
  }

  /// Removes all actions: another owner closes the resources.
  void release() {
    actions.clear();
  }

  /// Runs all actions, even if one fails. Throws the first failure at the end.
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
