package dev.parley.http;

import dev.parley.identity.Caller;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.eclipse.jetty.io.EndPoint;

/// The connections of callers whose credentials can be revoked, with the caller of the last request.
/// Closes them when the caller loses a permission, whatever the connection is used for.
///
/// For many threads.
final class CallerConnections {

  private static final int PURGE_MIN = 1_024;

  private final Map<EndPoint, Caller> callers = new ConcurrentHashMap<>();
  private volatile int purgeAt = PURGE_MIN;

  /// Records the caller of the connection's present request.
  void put(EndPoint endPoint, Caller caller) {
    if (caller.revocable()) {
      callers.put(endPoint, caller);
      purge();
    } else {
      remove(endPoint);
    }
  }

  /// Forgets the caller of a connection whose present request must not be cut.
  void remove(EndPoint endPoint) {
    if (!callers.isEmpty()) {
      callers.remove(endPoint);
    }
  }

  /// Forgets closed connections. Jetty has no event for the end of a connection that was upgraded.
  private void purge() {
    if (callers.size() >= purgeAt) {
      callers.keySet().removeIf(endPoint -> !endPoint.isOpen());
      purgeAt = Math.max(PURGE_MIN, 2 * callers.size());
    }
  }

  /// Closes the connections of the callers that meet the condition.
  void end(Predicate<Caller> lost) {
    callers.forEach(
        (endPoint, caller) -> {
          if (lost.test(caller)) {
            callers.remove(endPoint, caller);
            endPoint.close();
          }
        });
  }
}
