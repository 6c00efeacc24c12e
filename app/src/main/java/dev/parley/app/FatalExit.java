package dev.parley.app;

import dev.parley.log.FatalHandler;
import java.io.PrintStream;
import java.util.function.IntConsumer;

/// Ends the process when its server cannot continue. The log survives, and a process supervisor can
/// start the server again.
final class FatalExit implements FatalHandler {

  private final PrintStream err;
  private final IntConsumer halt;

  FatalExit(PrintStream err) {
    // Not exit: shutdown hooks may wait for the failed thread.
    this(err, Runtime.getRuntime()::halt);
  }

  FatalExit(PrintStream err, IntConsumer halt) {
    this.err = err;
    this.halt = halt;
  }

  @Override
  public void failed(String thread, Throwable cause) {
    try {
      err.println(
          "parley: exiting because the thread "
              + thread
              + " failed: "
              + cause
              + ". Everything that was acknowledged is in the log. Start the server again.");
      err.flush();
    } finally {
      halt.accept(CommandExit.FAILED);
    }
  }
}
