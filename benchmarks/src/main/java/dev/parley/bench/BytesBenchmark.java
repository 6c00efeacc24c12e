package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

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

  private final RunLength runLength;
  private final SampleText sampleText = new SampleText();

  BytesBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "bytes";
  }

  /// Opens a store in a folder.
  private interface Opening {
    DurableAppender open(TemporaryFolder temporaryFolder);
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Bytes on the disk for a streamed token, everything included");
    var ours =
        measure(
            temporaryFolder -> new ParleyAppender(temporaryFolder.path(), CONTEXTS, streaming()));
    // Many rows in a transaction: this is faster, and the file has the same size.
    var rows =
        measure(
            temporaryFolder ->
                new RowPerEventAppender(temporaryFolder.path(), CONTEXTS, ROWS_BATCH));
    var text = textBytes();
    benchmarkReport.table(
        new ReportTable(
                "%,d tokens, %d contexts".formatted(tokens(), CONTEXTS), "bytes/token", "ratio")
            .row("Parley", shown(ours), times(1))
            .row("a row per event", shown(rows), times(rows / ours))
            .row("the text alone", shown(text), times(text / ours)));
    benchmarkReport.atLeast(
        "bytes per token, a row per event against Parley", SMALLER, rows / ours, " x");
  }

  private double measure(Opening opening) throws IOException, InterruptedException {
    try (var temporaryFolder = TemporaryFolder.make()) {
      try (var store = opening.open(temporaryFolder)) {
        new AppendLoad(store, sampleText, CONTEXTS).append(each());
      }
      return (double) temporaryFolder.bytes() / tokens();
    }
  }

  private double textBytes() {
    var bytes = 0L;
    for (var context = 0; context < CONTEXTS; context++) {
      for (var i = 0; i < each(); i++) {
        bytes += sampleText.piece(context, i).length();
      }
    }
    return (double) bytes / tokens();
  }

  private int each() {
    return runLength.tokens() / CONTEXTS;
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
