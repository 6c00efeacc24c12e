package dev.parley.socketio;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Connections that have not signed in yet. Limits their number per address and in total.
///
/// When there are too many, the oldest one is closed. A client signs in within milliseconds, so an
/// attacker who opens connections and never signs in closes only their own. The monitor guards the
/// maps.
final class PendingConnections {

  static final int ADDRESS_MAX = 100;
  static final int ALL_MAX = 1_000;

  private record Opened(EngineConnection connection, InetAddress address) {}

  private final Map<String, Opened> oldestFirst = new LinkedHashMap<>();
  private final Map<InetAddress, Integer> counts = new HashMap<>();

  void add(EngineConnection engineConnection, InetAddress address) {
    EngineConnection surplus = null;
    synchronized (this) {
      oldestFirst.put(engineConnection.sid, new Opened(engineConnection, address));
      if (counts.merge(address, 1, Integer::sum) > ADDRESS_MAX) {
        surplus = evict(address);
      } else if (oldestFirst.size() > ALL_MAX) {
        surplus = evict(null);
      }
    }
    if (surplus != null) {
      surplus.close(1013, "too many connections that have not signed in");
    }
  }

  /// Forgets a connection that has signed in or is closed.
  synchronized void remove(String sid) {
    var opened = oldestFirst.remove(sid);
    if (opened != null) {
      counts.computeIfPresent(opened.address(), (_, count) -> count == 1 ? null : count - 1);
    }
  }

  /// Removes the oldest connection, of one address if that is given.
  private @Nullable EngineConnection evict(@Nullable InetAddress address) {
    for (var opened : oldestFirst.values()) {
      if (address == null || opened.address().equals(address)) {
        remove(opened.connection().sid);
        return opened.connection();
      }
    }
    return null;
  }
}
