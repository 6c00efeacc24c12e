package dev.parley.http;

import dev.parley.net.AddressRange;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/// Limits how often an address may try wrong tokens, and logs each failure.
///
/// After too many failures within a minute, the address must wait, except with tokens that it used
/// before: an attacker behind a shared address does not lock out users who are signed in there. The
/// monitor guards the map.
final class LoginThrottle {

  private static final System.Logger LOG = System.getLogger(LoginThrottle.class.getName());

  static final int FAILURES_MAX = 20;
  private static final long WINDOW_NANOS = Duration.ofMinutes(1).toNanos();
  private static final int ADDRESSES_MAX = 10_000;
  private static final int TOKENS_MAX = 100;

  /// The state of one address.
  private static final class Caller {
    final Set<String> tokensUsed = new HashSet<>();
    long windowStart;
    int failures;
  }

  private final Time time;
  private final Map<String, Caller> callers =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Caller> eldest) {
          return size() > ADDRESSES_MAX;
        }
      };

  LoginThrottle(Time time) {
    this.time = time;
  }

  /// Rejects a token that must not be tried now.
  ///
  /// @throws Rejection.Busy if the address has failed too often
  synchronized void check(InetAddress address, byte[] tokenHash) {
    var caller = callers.get(AddressRange.limitKey(address));
    if (caller == null || caller.failures < FAILURES_MAX || windowIsOver(caller)) {
      return;
    }
    if (!caller.tokensUsed.contains(HexFormat.of().formatHex(tokenHash))) {
      throw new Rejection.Busy(
          "too-many-logins", "too many failed logins from this address; try again in a minute");
    }
  }

  synchronized void succeeded(InetAddress address, byte[] tokenHash) {
    var caller = callers.computeIfAbsent(AddressRange.limitKey(address), _ -> new Caller());
    if (caller.tokensUsed.size() < TOKENS_MAX) {
      caller.tokensUsed.add(HexFormat.of().formatHex(tokenHash));
    }
  }

  void failed(InetAddress address) {
    int failures;
    synchronized (this) {
      var caller = callers.computeIfAbsent(AddressRange.limitKey(address), _ -> new Caller());
      if (caller.failures == 0 || windowIsOver(caller)) {
        caller.windowStart = time.nanos();
        caller.failures = 0;
      }
      failures = ++caller.failures;
    }
    LOG.log(
        Level.WARNING,
        failures < FAILURES_MAX
            ? "failed login from {0}: unknown token ({1} within a minute)"
            : "failed login from {0}: unknown token ({1} within a minute); other tokens from this"
                + " address are rejected for a minute",
        address.getHostAddress(),
        failures);
  }

  private boolean windowIsOver(Caller caller) {
    return time.nanos() - caller.windowStart > WINDOW_NANOS;
  }
}
