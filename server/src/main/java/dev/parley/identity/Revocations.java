package dev.parley.identity;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Reports that callers have lost a permission, so that their open streams and sockets end at once.
///
/// For many threads.
public final class Revocations {

  private final Set<Consumer<Predicate<Caller>>> listeners = ConcurrentHashMap.newKeySet();
  private final AtomicLong generation = new AtomicLong();

  /// Grows with each revocation. A caller that was authenticated before a revocation and registers a
  /// stream after it has to be authenticated again.
  public long generation() {
    return generation.get();
  }

  /// Calls the listener with a condition on callers that have lost a permission, until the result is
  /// closed. The listener must not block.
  public Registration listen(Consumer<Predicate<Caller>> listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }

  /// Calls `end` when this caller has lost a permission, until the result is closed. `end` must not
  /// block.
  public Registration register(Caller caller, Runnable end) {
    return listen(
        lost -> {
          if (lost.test(caller)) {
            end.run();
          }
        });
  }

  /// Ends the streams of the callers that meet the condition.
  void revoke(Predicate<Caller> lost) {
    generation.incrementAndGet();
    listeners.forEach(listener -> listener.accept(lost));
  }

  /// A listener that can be removed.
  @FunctionalInterface
  public interface Registration extends AutoCloseable {
    @Override
    void close();
  }
}
