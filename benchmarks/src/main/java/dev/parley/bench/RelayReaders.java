package dev.parley.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/// The process of the readers: for each agent, starts it, subscribes many clients, opens the gate,
/// and counts tokens.
public final class RelayReaders {

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

  private RelayReaders() {}

  /// Arguments: the server's port, the number of readers, the number of tokens, the gate file, the
  /// number of agents. A program waits until the gate file exists.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    var port = Integer.parseInt(arguments[0]);
    var readers = Integer.parseInt(arguments[1]);
    var tokens = Long.parseLong(arguments[2]);
    var gate = Path.of(arguments[3]);
    var results = new ArrayList<String>();
    for (var agents = Integer.parseInt(arguments[4]); agents > 0; agents--) {
      results.add(String.format(Locale.ROOT, "%.4f", seconds(port, readers, tokens, gate)));
    }
    System.out.println("result " + String.join(" ", results));
    System.exit(0);
  }

  private static double seconds(int port, int readers, long tokens, Path gate)
      throws IOException, InterruptedException {
    Files.deleteIfExists(gate);
    var agent = launch(port);
    var readerTotals = new ReaderTotals();
    var crowds = List.of(new ReaderGroup(port), new ReaderGroup(port));
    try {
      for (var i = 0; i < readers; i++) {
        crowds.get(i % crowds.size()).add(new SocketIoStreamReader(port, agent, readerTotals));
      }
      await(readerTotals, readers, 0);
      var begin = System.nanoTime();
      Files.createFile(gate);
      await(readerTotals, readers, readers * tokens);
      return (System.nanoTime() - begin) / 1e9;
    } finally {
      for (var readerGroup : crowds) {
        readerGroup.close();
      }
    }
  }

  private static String launch(int port) throws IOException {
    try (var httpConnection = new HttpConnection(port)) {
      return BenchmarkChat.field(
          httpConnection.post("/api/agents", "{\"type\":\"relay\",\"prompt\":\"go\"}"), "agentId");
    }
  }

  private static void await(ReaderTotals readerTotals, int open, long received)
      throws IOException, InterruptedException {
    var deadline = System.nanoTime() + PATIENCE_NANOS;
    while (readerTotals.open() < open || readerTotals.received() < received) {
      if (System.nanoTime() > deadline) {
        throw new IOException(
            readerTotals.open()
                + " of "
                + open
                + " joined, received "
                + readerTotals.received()
                + " tokens");
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }
}
