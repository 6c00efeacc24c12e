package dev.parley.app;

import java.util.function.LongConsumer;

/// Prints how much of a log was copied, about every 64 MiB.
final class TransferProgress implements LongConsumer {

  private static final long STEP_BYTES = 64L << 20;

  private final Terminal terminal;
  private long next = STEP_BYTES;

  TransferProgress(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public void accept(long bytes) {
    if (bytes >= next) {
      terminal.err().println("Copied " + HumanUnits.size(bytes) + " ...");
      next = bytes + STEP_BYTES;
    }
  }
}
