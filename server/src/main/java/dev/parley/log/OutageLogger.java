package dev.parley.log;

import dev.parley.runtime.Time;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// Logs a continuing failure: when it begins, then at most once a minute, and once when it ends. A
/// failure that comes and goes is logged a few times a minute. Safe for many threads.
public final class OutageLogger {

  static final Duration PAUSE = Duration.ofMinutes(1);

  /// Maximum number of beginnings that are logged within [#PAUSE].
  static final int BEGINS_MAX = 5;

  private final Logger logger;
  private final String begin;
  private final String end;
  private final Time time;
  private boolean logged;
  private long loggedAt;
  private long minuteBegan;
  private int begins;

  /// `begin` is the log line at the beginning, to which the reason is appended; `end` is the line
  /// at the end.
  public OutageLogger(Logger logger, String begin, String end, Time time) {
    this.logger = logger;
    this.begin = begin;
    this.end = end;
    this.time = time;
  }

  /// Records a failure and its reason.
  public synchronized void failed(String reason) {
    var now = time.nanos();
    if (logged ? now - loggedAt < PAUSE.toNanos() : !mayBegin(now)) {
      logger.log(Level.DEBUG, "{0}: {1}", begin, reason);
      return;
    }
    logger.log(Level.WARNING, "{0}: {1}", begin, reason);
    logged = true;
    loggedAt = now;
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

  /// Records that the failure has ended.
  public synchronized void recovered() {
    if (logged) {
      logged = false;
      logger.log(
          Level.INFO,
          "{0} (since the last warning: {1} s)",
          end,
          TimeUnit.NANOSECONDS.toSeconds(time.nanos() - loggedAt));
    }
  }
}
