package dev.parley.log;

/// Waits for threads to end.
final class ThreadJoiner {

  private ThreadJoiner() {}

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
