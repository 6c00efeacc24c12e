package dev.parley.http;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// The connections of a listener that are forwarded to the active server. They are closed when
/// another server becomes active, because the one until now may not even know. Thread-safe.
final class OpenTunnels {

  private final Set<TunnelConnection> open = ConcurrentHashMap.newKeySet();
  private final AtomicLong generation = new AtomicLong();

  /// The present generation. Get it before finding the active server, so that a tunnel to a server
  /// that is not active any more cannot stay open.
  long generation() {
    return generation.get();
  }

  /// Adds a tunnel of this generation, or closes it if it is too late.
  void add(TunnelConnection tunnel, long tunnelGeneration) {
    open.add(tunnel);
    if (generation.get() != tunnelGeneration) {
      tunnel.end();
    }
  }

  void remove(TunnelConnection tunnel) {
    open.remove(tunnel);
  }

  /// The number of open tunnels.
  int count() {
    return open.size();
  }

  /// Closes all tunnels, and those of this generation that are added later.
  void closeAll() {
    generation.incrementAndGet();
    open.forEach(TunnelConnection::end);
  }
}
