package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.runtime.Time;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Locale;

/// Logs the progress of a long catch-up of the views. Safe for many threads: the monitor guards the
/// fields.
final class CatchUpProgress {

  /// A shorter catch-up is not logged.
  static final Duration PAUSE = Duration.ofSeconds(5);

  private static final Logger LOGGER = System.getLogger(CatchUpProgress.class.getName());

  private final EventLog log;
  private final Time time;
  private boolean running;
  private boolean logged;
  private long began;
  private long loggedAt;
  private long done;

  CatchUpProgress(EventLog log, Time time) {
    this.log = log;
    this.time = time;
  }

  /// Records that so many more contexts are folded, up to `mark`.
  void add(int contexts, long mark) {
    if (mayLogAfter(contexts)) {
      LOGGER.log(Level.INFO, text(mark));
    }
  }

  private synchronized boolean mayLogAfter(int contexts) {
    var now = time.nanos();
    if (!running) {
      running = true;
      began = now;
      loggedAt = now;
      done = 0;
    }
    done += contexts;
    if (now - loggedAt < PAUSE.toNanos()) {
      return false;
    }
    loggedAt = now;
    logged = true;
    return true;
  }

  /// Records that all contexts are folded.
  synchronized void complete() {
    if (running && logged) {
      LOGGER.log(
          Level.INFO,
          String.format(
              Locale.ROOT,
              "computed views: %,d contexts in %d s",
              done,
              Duration.ofNanos(time.nanos() - began).toSeconds()));
    }
    running = false;
    logged = false;
  }

  /// Returns the progress as text, if the views are folded up to `mark`.
  String text(long mark) {
    var folded = done();
    return String.format(
        Locale.ROOT,
        "computing views: %,d of %,d contexts",
        folded,
        folded + log.countChanges(mark));
  }

  private synchronized long done() {
    return running ? done : 0;
  }
}
