package dev.parley.projection;

import dev.parley.protocol.Rejection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Updates the views in the background, so that queries for lists find them up to date.
final class ViewRefresher implements AutoCloseable {

  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(30);
  private static final Logger LOGGER = System.getLogger(ViewRefresher.class.getName());

  private final ViewCatchUp catchUp;
  private final ViewThread viewThread;
  private final ContextFeed contextFeed;
  private final ViewsRuntime runtime;
  private final Thread thread;
  private volatile boolean closed;

  ViewRefresher(
      ViewCatchUp catchUp, ViewThread viewThread, ContextFeed contextFeed, ViewsRuntime runtime) {
    this.catchUp = catchUp;
    this.viewThread = viewThread;
    this.contextFeed = contextFeed;
    this.runtime = runtime;
    this.thread = runtime.threads().start("views-refresher", this::run);
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!closed) {
        contextFeed.awaitChanges(PAUSE);
        if (!closed && !update()) {
          runtime.time().parkUntil(this, runtime.time().deadline(PAUSE_AFTER_FAILURE));
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (Rejection.Unavailable logClosed) {
      LOGGER.log(Level.DEBUG, "updating of the views stopped: {0}", logClosed.getMessage());
    } catch (Throwable bug) { // The root of a thread.
      runtime.fatal().failed("views-refresher", bug);
    }
  }

  private boolean update() {
    try {
      catchUp.updateInBackground(() -> closed);
      viewThread.markHealthy();
      return true;
    } catch (Rejection.Unavailable failure) {
      // The thread of the views has logged the cause.
      LOGGER.log(Level.DEBUG, "cannot update the views: {0}", failure.toString());
      return false;
    } catch (RuntimeException failure) {
      // Callers get their own answer or error, so one log line is enough here.
      LOGGER.log(Level.WARNING, "cannot update the views: {0}", failure.toString());
      return false;
    }
  }
}
