package dev.parley.app;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/// A fault of a campaign, as it was chosen before the campaign began.
///
/// `length` is how long it lasts, `delay` the time before its second part, if it has one. `deliver`
/// says whether bytes that a network held back arrive in the end. `choice` selects one of several
/// servers that would do. If `hasty`, the next fault does not wait until the servers have recovered.
record PlannedFault(
    FaultKind kind, Duration length, Duration delay, boolean deliver, int choice, boolean hasty) {

  /// What fails.
  enum FaultKind {
    KILL_ACTIVE,
    KILL_STANDBY,
    KILL_ALL,
    SUSPEND_ACTIVE,
    SUSPEND_STANDBY,
    STOP_ACTIVE,
    STOP_STANDBY,
    DRAIN_ACTIVE,
    KILL_DURING_DRAIN,
    DRAIN_DURING_TAKEOVER,
    CUT_DATABASE_OF_ACTIVE,
    STALL_DATABASE_OF_ACTIVE,
    STALL_DATABASE_OF_STANDBY,
    STALL_SERVERS,
    CUT_SERVERS,
    RESTART_DATABASE,
    RESTART_DATABASE_DURING_TAKEOVER,
    LOSE_DATABASE_STANDBY(true),
    PROMOTE_DATABASE(true),
    /// The standby is lost, the primary restarts, so that commits are visible that no standby has;
    /// then the primary is lost too, and the standby is promoted.
    PROMOTE_LOST_STANDBY(true),
    /// The standby is lost, and an administrator ends the wait of the commits for it; then the
    /// standby is promoted without them.
    PROMOTE_WITHOUT_CANCELED_COMMITS(true);

    private final boolean needsStandby;

    FaultKind() {
      this(false);
    }

    FaultKind(boolean needsStandby) {
      this.needsStandby = needsStandby;
    }

    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /// Longer than the time after which another server takes over.
  private static final int SHORT_MILLIS = 7_000;

  private static final int LONG_MILLIS = 60_000;
  private static final int DELAY_MILLIS = 6_500;

  /// Chooses faults. Every kind occurs before one occurs again. If `hard`, one of ten lasts up to a
  /// minute, and one of four is hasty; otherwise none takes much longer than a takeover.
  static List<PlannedFault> choose(Random random, int count, boolean replicated, boolean hard) {
    var faults = new ArrayList<PlannedFault>();
    while (faults.size() < count) {
      var kinds =
          new ArrayList<>(
              Arrays.stream(FaultKind.values())
                  .filter(kind -> replicated || !kind.needsStandby)
                  .toList());
      Collections.shuffle(kinds, random);
      kinds.stream()
          .limit(count - faults.size())
          .map(kind -> choose(kind, random, hard))
          .forEach(faults::add);
    }
    return faults;
  }

  private static PlannedFault choose(FaultKind kind, Random random, boolean hard) {
    var max = hard && random.nextInt(10) == 0 ? LONG_MILLIS : SHORT_MILLIS;
    return new PlannedFault(
        kind,
        Duration.ofMillis(1 + random.nextInt(max)),
        Duration.ofMillis(random.nextInt(DELAY_MILLIS)),
        random.nextBoolean(),
        random.nextInt(100),
        hard && random.nextInt(4) == 0);
  }

  @Override
  public String toString() {
    return "%s (%d ms, %d ms, %s, %d%s)"
        .formatted(
            kind.text(),
            length.toMillis(),
            delay.toMillis(),
            deliver ? "deliver" : "lose",
            choice,
            hasty ? ", hasty" : "");
  }
}
