package dev.parley.bench;

import static dev.parley.bench.Report.shown;
import static dev.parley.bench.Report.times;

import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.SplittableRandom;

/// Bytes on disk per streamed token, compared with a row per event, for the same text.
///
/// All files count, after the store is closed. Tokens are about 30 ms apart by the log's clock,
/// because timestamps also need space.
final class BytesBenchmark implements Benchmark {

  private static final int CONTEXTS = 100;
  private static final int ROWS_BATCH = 1_000;
  private static final int STEP_MICROS = 600;
  private static final double SMALLER = 8;

  private final Pace pace;
  private final Prose prose = new Prose();

  BytesBenchmark(Pace pace) {
    this.pace = pace;
  }

  @Override
  public String name() {
    return "bytes";
  }

  /// Opens a store in a folder.
  private interface Opening {
    Appender open(Folder folder);
  }

  @Override
  public void run(Report report) throws IOException, InterruptedException {
    report.title("Bytes on the disk for a streamed token, everything included");
    var ours = measure(folder -> new ParleyAppender(folder.path(), CONTEXTS, streaming()));
    // Many rows in a transaction: this is faster, and the file has the same size.
    var rows = measure(folder -> new RowPerEvent(folder.path(), CONTEXTS, ROWS_BATCH));
    var text = textBytes();
    report.table(
        new Table("%,d tokens, %d contexts".formatted(tokens(), CONTEXTS), "bytes/token", "ratio")
            .row("Parley", shown(ours), times(1))
            .row("a row per event", shown(rows), times(rows / ours))
            .row("the text alone", shown(text), times(text / ours)));
    report.atLeast("bytes per token, a row per event against Parley", SMALLER, rows / ours, " x");
  }

  private double measure(Opening opening) throws IOException, InterruptedException {
    try (var folder = Folder.make()) {
      try (var store = opening.open(folder)) {
        new Load(store, prose, CONTEXTS).append(each());
      }
      return (double) folder.bytes() / tokens();
    }
  }

  private double textBytes() {
    var bytes = 0L;
    for (var context = 0; context < CONTEXTS; context++) {
      for (var i = 0; i < each(); i++) {
        bytes += prose.piece(context, i).length();
      }
    }
    return (double) bytes / tokens();
  }

  private int each() {
    return pace.tokens() / CONTEXTS;
  }

  private int tokens() {
    return each() * CONTEXTS;
  }

  /// A clock that advances a little with every append.
  private static InstantSource streaming() {
    var random = new SplittableRandom(2);
    var begin = Instant.now();
    var micros = new long[1];
    return () -> {
      synchronized (micros) {
        micros[0] += random.nextInt(STEP_MICROS);
        return begin.plusMillis(micros[0] / 1_000);
      }
    };
  }
}
