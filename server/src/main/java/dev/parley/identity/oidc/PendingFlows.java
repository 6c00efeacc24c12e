package dev.parley.identity.oidc;

import dev.parley.runtime.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// The sign-ins that people have started and not completed, by their state. Each can be taken once.
///
/// In memory: after a restart or takeover, people start again. The monitor guards them.
final class PendingFlows {

  static final Duration FLOW_TIME = Duration.ofMinutes(10);
  static final int FLOWS_MAX = 10_000;

  /// A sign-in that has been started.
  ///
  /// @param browser the secret that only the browser has which has started it
  /// @param to where the browser goes afterwards
  record PendingFlow(
      String browser,
      String nonce,
      String verifier,
      String redirectUri,
      String to,
      Instant startedAt) {
    @Override
    public String toString() {
      return "a sign-in";
    }
  }

  private final Map<String, PendingFlow> flows = new LinkedHashMap<>();
  private final Time time;

  PendingFlows(Time time) {
    this.time = time;
  }

  /// Adds a flow. The oldest one ends if there are too many.
  synchronized void add(String state, PendingFlow flow) {
    removeExpired();
    if (flows.size() >= FLOWS_MAX) {
      removeFirst(flows.values().iterator());
    }
    flows.put(state, flow);
  }

  private static void removeFirst(Iterator<PendingFlow> oldest) {
    var _ = oldest.next();
    oldest.remove();
  }

  /// Takes the flow with this state, so that nobody else can.
  synchronized Optional<PendingFlow> take(String state) {
    removeExpired();
    return Optional.ofNullable(flows.remove(state));
  }

  private void removeExpired() {
    var oldest = time.instant().minus(FLOW_TIME);
    var all = flows.values().iterator();
    while (all.hasNext() && !all.next().startedAt().isAfter(oldest)) {
      all.remove();
    }
  }
}
