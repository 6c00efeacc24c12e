package dev.parley.http;

import dev.parley.net.AddressRange;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.io.EndPoint;
import org.jspecify.annotations.Nullable;

/// Limits what one address may use before its callers have authenticated: open connections, and
/// requests per minute.
///
/// A connection stops counting with its first authenticated request, so a company behind one address
/// is not limited by the number of its people. Connections of trusted proxies never count. The
/// monitor guards the maps.
final class AddressLimits {

  private static final System.Logger LOG = System.getLogger(AddressLimits.class.getName());
  private static final int ADDRESSES_MAX = 10_000;
  private static final double MINUTE_NANOS = Duration.ofMinutes(1).toNanos();
  private static final long LOG_INTERVAL_NANOS = Duration.ofMinutes(1).toNanos();

  private final HttpLimits limits;
  private final TrustedProxies proxies;
  private final Time time;

  /// The connections that count, and the key of their address.
  private final Map<EndPoint, String> counted = new ConcurrentHashMap<>();

  private final Map<String, Integer> connections = new HashMap<>();
  private final Map<String, Bucket> requests =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bucket> eldest) {
          return size() > ADDRESSES_MAX;
        }
      };
  private @Nullable Long loggedNanos;

  /// The requests that an address may still send; refilled all the time.
  private static final class Bucket {
    private double left;
    private long filledNanos;
  }

  AddressLimits(HttpLimits limits, TrustedProxies proxies, Time time) {
    this.limits = limits;
    this.proxies = proxies;
    this.time = time;
  }

  /// Counts a new connection. False if its address has too many.
  boolean open(EndPoint endPoint) {
    if (!(endPoint.getRemoteSocketAddress() instanceof InetSocketAddress remote)
        || proxies.contains(remote.getAddress())) {
      return true;
    }
    var key = AddressRange.limitKey(remote.getAddress());
    synchronized (this) {
      var open = connections.getOrDefault(key, 0);
      if (open < limits.connectionsPerAddress()) {
        connections.put(key, open + 1);
        counted.put(endPoint, key);
        return true;
      }
      logExcess(remote.getAddress());
      return false;
    }
  }

  private void logExcess(InetAddress address) {
    var now = time.nanos();
    if (loggedNanos == null || now - loggedNanos > LOG_INTERVAL_NANOS) {
      loggedNanos = now;
      LOG.log(
          Level.WARNING,
          "closed a connection of {0}: it has {1} others without an authenticated request; see"
              + " limits.connectionsPerAddress and trustedProxies",
          address.getHostAddress(),
          limits.connectionsPerAddress());
    }
  }

  /// The connection has ended, or its caller has authenticated.
  void release(EndPoint endPoint) {
    if (counted.isEmpty()) {
      return;
    }
    var key = counted.remove(rawEndPoint(endPoint));
    if (key != null) {
      synchronized (this) {
        connections.computeIfPresent(key, (_, open) -> open == 1 ? null : open - 1);
      }
    }
  }

  /// The number of connections that count now.
  int connections() {
    return counted.size();
  }

  /// The end point of the socket below TLS.
  private static EndPoint rawEndPoint(EndPoint endPoint) {
    return endPoint instanceof EndPoint.Wrapper wrapper ? wrapper.unwrap() : endPoint;
  }

  /// Counts a request whose caller has not authenticated.
  ///
  /// @throws Rejection.Busy if the address has sent too many
  void countAnonymous(RequestSource source) {
    if (!source.known() || proxies.contains(source.address())) {
      return;
    }
    synchronized (this) {
      var key = AddressRange.limitKey(source.address());
      var bucket = requests.computeIfAbsent(key, _ -> full());
      var now = time.nanos();
      var max = limits.anonymousRequestsPerMinute();
      bucket.left = Math.min(max, bucket.left + (now - bucket.filledNanos) / MINUTE_NANOS * max);
      bucket.filledNanos = now;
      if (bucket.left >= 1) {
        bucket.left--;
        return;
      }
    }
    throw new Rejection.Busy(
        "too-many-requests",
        "too many requests from this address without a login; try again later");
  }

  private Bucket full() {
    var bucket = new Bucket();
    bucket.left = limits.anonymousRequestsPerMinute();
    bucket.filledNanos = time.nanos();
    return bucket;
  }
}
