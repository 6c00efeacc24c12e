package dev.parley.view;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Takes in what is new now and then, so that whoever asks for a list need not wait for it.
final class Follower implements AutoCloseable {

  private static final Logger LOGGER = System.getLogger(Follower.class.getName());

  private final Intake intake;
  private final Duration pause;
  private final Duration pauseAfterFailure;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread;

  Follower(Intake intake, Duration pause, Duration pauseAfterFailure) {
    this.intake = intake;
    this.pause = pause;
    this.pauseAfterFailure = pauseAfterFailure;
    this.thread = Thread.ofVirtual().name("views-follower").start(this::follow);
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      thread.join();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void follow() {
    try {
      var wait = pause;
      while (!closed.await(wait.toMillis(), TimeUnit.MILLISECONDS)) {
        wait = takeIn();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private Duration takeIn() {
    try {
      intake.takeInAll();
      return pause;
    } catch (RuntimeException failure) {
      // Whoever asks gets an answer or an error of their own; here it is only worth a line.
      LOGGER.log(Level.WARNING, "the views cannot follow the log: {0}", failure.toString());
      return pauseAfterFailure;
    }
  }
}
