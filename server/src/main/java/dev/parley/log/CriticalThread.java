package dev.parley.log;

/// Starts platform threads that the log cannot run without.
final class CriticalThread {

  private CriticalThread() {}

  /// The work of such a thread, until it is interrupted.
  interface ThreadBody {
    void run() throws InterruptedException;
  }

  /// Starts a daemon thread. An interrupt ends it; any other exception is passed to `fatal`.
  static Thread start(String name, ThreadBody threadBody, FatalHandler fatal) {
    return Thread.ofPlatform()
        .daemon()
        .name(name)
        .start(
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
}
