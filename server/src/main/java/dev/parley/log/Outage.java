package dev.parley.log;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Writes to the program's log that something fails: when it begins, then at most once a minute, and once when it is
/// over. Something that fails and recovers all the time is logged a few times a minute. Safe for many threads.
public final class Outage {

  static final Duration PAUSE = Duration.ofMinutes(1);

  /// How many outages that begin within [#PAUSE] are logged.
  static final int BEGINS_MAX = 5;

  private final Logger logger;
  private final String begin;
  private final String end;
  private final LongSupplier nanoTime;
  private boolean told;
  private long toldAt;
  private long minuteBegan;
  private int begins;

  /// `begin` is the line at the beginning, to which a reason is added, `end` the line at the end.
  public Outage(Logger logger, String begin, String end) {
    this(logger, begin, end, System::nanoTime);
  }

  Outage(Logger logger, String begin, String end, LongSupplier nanoTime) {
    this.logger = logger;
    this.begin = begin;
    this.end = end;
    this.nanoTime = nanoTime;
  }

  /// It failed, for this reason.
  public synchronized void failed(String reason) {
    var now = nanoTime.getAsLong();
    if (told ? now - toldAt < PAUSE.toNanos() : !mayBegin(now)) {
      logger.log(Level.DEBUG, "{0}: {1}", begin, reason);
      return;
    }
    logger.log(Level.WARNING, "{0}: {1}", begin, reason);
    told = true;
    toldAt = now;
  }

  private boolean mayBegin(long now) {
    if (begins == 0 || now - minuteBegan >= PAUSE.toNanos()) {
      minuteBegan = now;
      begins = 0;
    }
    if (begins == BEGINS_MAX) {
      return false;
    }
    begins++;
    return true;
  }

  /// It works again.
  public synchronized void over() {
    if (told) {
      told = false;
      logger.log(
          Level.INFO,
          "{0} (since the last warning: {1} s)",
          end,
          TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - toldAt));
    }
  }
}
