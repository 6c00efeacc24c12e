package dev.parley.log;

import dev.parley.runtime.Threads;

/// Starts and joins platform threads that the log cannot run without.
final class CriticalThread {

  private CriticalThread() {}

  /// The work of such a thread, until it is interrupted.
  interface ThreadBody {
    void run() throws InterruptedException;
  }

  /// Starts a daemon thread. An interrupt ends it; any other exception is passed to `fatal`.
  static Thread start(Threads threads, String name, ThreadBody threadBody, FatalHandler fatal) {
    return threads.startPlatform(
        name,
        () -> {
          try {
            threadBody.run();
          } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
          } catch (Throwable bug) { // The root of a thread.
            fatal.failed(name, bug);
          }
        });
  }

  /// Waits until `thread` has ended, without a time limit. An interrupt is restored afterwards.
  static void join(Thread thread) {
    var interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
