package dev.parley.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// The process that reads what an agent says: subscribes many times, opens the gate, and counts.
public final class RelayReaders {

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

  private RelayReaders() {}

  /// Arguments: the server's port, the agent, readers, tokens, the file that is the gate.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    var port = Integer.parseInt(arguments[0]);
    var readers = Integer.parseInt(arguments[2]);
    var tokens = Long.parseLong(arguments[3]);
    var tally = new Tally();
    var crowds = List.of(new Crowd(port), new Crowd(port));
    for (var i = 0; i < readers; i++) {
      crowds.get(i % crowds.size()).add(new SocketIoWire(port, arguments[1], tally));
    }
    await(tally, readers, 0);
    var begin = System.nanoTime();
    Files.createFile(Path.of(arguments[4]));
    await(tally, readers, readers * tokens);
    var seconds = (System.nanoTime() - begin) / 1e9;
    System.out.println("result " + String.format(Locale.ROOT, "%.4f", seconds));
    System.exit(0);
  }

  private static void await(Tally tally, int open, long received)
      throws IOException, InterruptedException {
    var deadline = System.nanoTime() + PATIENCE_NANOS;
    while (tally.open() < open || tally.received() < received) {
      if (System.nanoTime() > deadline) {
        throw new IOException(
            tally.open() + " of " + open + " joined, and got " + tally.received() + " tokens");
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }
}
