package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import dev.parley.log.BlockLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// The latency of a steady writer's appends while other threads delete large contexts and read old
/// pages, compared with the same writer alone.
///
/// Both take turns on one log, so that other load on the machine affects both.
final class DeleteBenchmark implements Benchmark {

  private static final double APPENDS_PER_SECOND_MAX = 200;

  /// A writer at full load could never catch up after its first delay.
  private static final double LOAD = 0.2;

  private static final int DELETERS = 2;
  private static final int CONTEXTS_PER_TURN = 4;
  private static final int CONTEXT_BYTES_PER_TOKEN = 50;
  private static final int PIECE_BYTES = 4_096;
  private static final int PIECES_PER_APPEND = 64;
  private static final int READERS = 2;
  private static final int READER_PAGE = 100;
  private static final long READER_PAUSE_NANOS = 10_000_000;
  private static final double RATIO_MAX = 3;

  private final RunLength runLength;
  private final SampleText sampleText = new SampleText();
  private final SplittableRandom noise = new SplittableRandom(2);

  DeleteBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "deletes";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title(
        "A steady writer, alone and while large contexts are deleted and old pages read");
    var alone = new LatencyHistogram();
    var disturbed = new LatencyHistogram();
    var deleted = new AtomicInteger();
    try (var temporaryFolder = TemporaryFolder.make();
        var parley = new ParleyAppender(temporaryFolder.path(), 1)) {
      var log = parley.log();
      var appendLoad = new AppendLoad(parley, sampleText, 1);
      var past = writeLong(log, runLength.tokens());
      var random = new SplittableRandom(1);
      var rate =
          Math.min(APPENDS_PER_SECOND_MAX, LOAD * appendLoad.atFullSpeed(runLength.warmUp()));
      for (var turn = 0; turn < runLength.turns(); turn++) {
        var victims = new ConcurrentLinkedQueue<ContextId>();
        for (var i = 0; i < CONTEXTS_PER_TURN; i++) {
          victims.add(writeLarge(log, (long) runLength.tokens() * CONTEXT_BYTES_PER_TOKEN));
        }
        alone.add(appendLoad.atFixedRate(rate, runLength.turn()));
        try (var crowd = new BackgroundLoad()) {
          for (var i = 0; i < DELETERS; i++) {
            crowd.start(() -> deleteNext(log, victims, deleted));
          }
          for (var i = 0; i < READERS; i++) {
            var own = random.split();
            crowd.start(() -> readOldPage(log, past, own));
          }
          disturbed.add(appendLoad.atFixedRate(rate, runLength.turn()));
        }
      }
    }
    print(benchmarkReport, alone, disturbed, deleted.get());
  }

  private void print(
      BenchmarkReport benchmarkReport,
      LatencyHistogram alone,
      LatencyHistogram disturbed,
      int deleted) {
    benchmarkReport.table(
        row(
            row(
                new ReportTable("append acknowledged, ms", "p50", "p99", "max", "appends"),
                "alone",
                alone),
            "with deletes and readers",
            disturbed));
    benchmarkReport.note(
        "%d contexts of %s MB of text deleted meanwhile, %d readers of old pages"
            .formatted(
                deleted, shown(runLength.tokens() * CONTEXT_BYTES_PER_TOKEN / 1e6), READERS));
    benchmarkReport.note(
        "ratios: p50 %s, p99 %s, max %s"
            .formatted(
                times(disturbed.millis(0.5) / alone.millis(0.5)),
                times(disturbed.millis(0.99) / alone.millis(0.99)),
                times(disturbed.millis(1) / alone.millis(1))));
    benchmarkReport.atMost(
        "p50 of a writer while others delete, against alone",
        RATIO_MAX,
        disturbed.millis(0.5) / alone.millis(0.5),
        " x");
    benchmarkReport.atMost(
        "p99 of a writer while others delete, against alone",
        RATIO_MAX,
        disturbed.millis(0.99) / alone.millis(0.99),
        " x");
  }

  private static ReportTable row(ReportTable reportTable, String name, LatencyHistogram times) {
    return reportTable.row(
        name,
        shown(times.millis(0.5)),
        shown(times.millis(0.99)),
        shown(times.millis(1)),
        "%,d".formatted(times.count()));
  }

  private static void deleteNext(BlockLog log, Queue<ContextId> victims, AtomicInteger deleted) {
    var victim = victims.poll();
    if (victim == null) {
      LockSupport.parkNanos(READER_PAUSE_NANOS);
    } else {
      log.delete(victim);
      deleted.incrementAndGet();
    }
  }

  private static void readOldPage(BlockLog log, Past past, SplittableRandom random) {
    var from = random.nextLong(Math.max(1, past.events() / 2));
    log.read(past.context(), Position.of(from), READER_PAGE);
    LockSupport.parkNanos(READER_PAUSE_NANOS);
  }

  private record Past(ContextId context, long events) {}

  private Past writeLong(BlockLog log, int tokens) {
    var benchmarkContext = BenchmarkContext.begin(log);
    for (var index = 0; index < tokens; index += READER_PAGE) {
      var texts = new ArrayList<String>();
      for (var i = 0; i < READER_PAGE; i++) {
        texts.add(sampleText.piece(0, index + i));
      }
      benchmarkContext.appendText(index, texts);
    }
    return new Past(benchmarkContext.context(), tokens);
  }

  private ContextId writeLarge(BlockLog log, long bytes) {
    var benchmarkContext = BenchmarkContext.begin(log);
    var index = 0;
    for (var written = 0L; written < bytes; written += (long) PIECE_BYTES * PIECES_PER_APPEND) {
      var texts = new ArrayList<String>();
      for (var i = 0; i < PIECES_PER_APPEND; i++) {
        texts.add(largePiece());
      }
      benchmarkContext.appendText(index, texts);
      index += texts.size();
    }
    return benchmarkContext.context();
  }

  /// Text that compresses badly, so that a large context is large on disk.
  private String largePiece() {
    var piece = new StringBuilder();
    while (piece.length() < PIECE_BYTES) {
      piece.append((char) noise.nextInt(' ', 127));
    }
    return piece.toString();
  }

  /// Threads that repeat an action until this is closed.
  private static final class BackgroundLoad implements AutoCloseable {
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    void start(Runnable again) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    while (!closed) {
                      again.run();
                    }
                  }));
    }

    @Override
    public void close() {
      closed = true;
      try {
        for (var thread : threads) {
          thread.join();
        }
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
