package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Durable appends per second, compared with a row and a transaction per event, with a bare file,
/// and with Redis Streams if there is a Redis.
///
/// The contenders stay open and take turns, so that other load on the machine affects all of them.
/// The result is the median of each contender's turns.
final class AppendBenchmark implements Benchmark {

  private static final double P99_MILLIS = 10;
  private static final double P99_RATIO = 3;
  private static final double FILE_RATIO = 0.75;
  private static final double FILE_RATIO_OF_MANY = 0.4;

  /// The index of the bare file among the contenders.
  private static final int FILE = 2;

  private static final String TITLE = "Durable appends, each acknowledged on the disk";

  private final RunLength runLength;
  private final SampleText sampleText = new SampleText();

  AppendBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "append";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title(
        "Durable append: a token at a time, each acknowledged when it is on the disk");
    var redis =
        runLength.withNode() ? RedisPeer.find(benchmarkReport) : Optional.<RedisPeer>empty();
    var throughput = new ChartLines();
    var latency = new ChartLines();
    for (var contexts : runLength.contexts()) {
      try (var temporaryFolder = TemporaryFolder.make();
          var parley = new ParleyAppender(temporaryFolder.path(), contexts);
          var rows = new RowPerEventAppender(temporaryFolder.path(), contexts, 1);
          var file = new BareFileAppender(temporaryFolder.path());
          var others = new OtherAppenders(redis, temporaryFolder.path())) {
        var contenders = new ArrayList<DurableAppender>(List.of(parley, rows, file));
        contenders.addAll(others.all());
        compare(benchmarkReport, contexts, contenders, throughput, latency);
      }
    }
    benchmarkReport.chart(throughput.chart("append-throughput", TITLE, "contexts", "events/s"));
    benchmarkReport.chart(
        latency.chart(
            "append-latency", "Acknowledgement at half of Parley's speed", "contexts", "ms"));
  }

  /// Redis, if there is one.
  private static final class OtherAppenders implements AutoCloseable {
    private final List<DurableAppender> all = new ArrayList<>();

    OtherAppenders(Optional<RedisPeer> redis, Path folder)
        throws IOException, InterruptedException {
      if (redis.isPresent()) {
        all.add(new RedisAppender(redis.get(), folder));
      }
    }

    List<DurableAppender> all() {
      return List.copyOf(all);
    }

    @Override
    public void close() {
      all.forEach(DurableAppender::close);
    }
  }

  private void compare(
      BenchmarkReport benchmarkReport,
      int contexts,
      List<DurableAppender> contenders,
      ChartLines throughput,
      ChartLines latency)
      throws InterruptedException {
    var comparison = new AppendComparison(runLength, sampleText, contexts, contenders);
    try (var unsealed = new UnsealedSampler((ParleyAppender) contenders.getFirst())) {
      comparison.run(contender -> unsealed.setSampling(contender == 0));
      unsealed.setSampling(false);
      comparison.print(benchmarkReport);
      comparison.addTo(throughput);
      var rate = comparison.speed(0) / 2;
      // The bare file shows the share of the disk, and of other load on the machine.
      var ours = comparison.load(0).atFixedRate(rate, runLength.halfLoad());
      var file = comparison.load(FILE).atFixedRate(rate, runLength.halfLoad());
      for (var share : List.of(0.5, 0.99)) {
        var name = share == 0.5 ? ", p50" : ", p99";
        latency.add("Parley" + name, contexts, ours.millis(share));
        latency.add("bare file" + name, contexts, file.millis(share));
      }
      note(benchmarkReport, "Parley", ours);
      note(benchmarkReport, "bare file", file);
      benchmarkReport.note(unsealed.summary());
      judge(benchmarkReport, contexts, comparison, unsealed, new HalfLoad(ours, file));
    }
  }

  /// The times of acknowledgements at the same rate, which is half of Parley's speed.
  private record HalfLoad(LatencyHistogram ours, LatencyHistogram file) {}

  private static void judge(
      BenchmarkReport benchmarkReport,
      int contexts,
      AppendComparison comparison,
      UnsealedSampler unsealed,
      HalfLoad halfLoad) {
    var where = " at " + AppendComparison.counted(contexts);
    if (contexts >= 100) {
      var wanted = contexts >= 1_000 ? 40 : 30;
      var rows = comparison.ratio(1);
      benchmarkReport.atLeast("append against a row per event" + where, wanted, rows, " x");
      var file = comparison.ratio(FILE);
      var share = contexts >= 1_000 ? FILE_RATIO_OF_MANY : FILE_RATIO;
      benchmarkReport.atLeast("append against a bare file" + where, share, file, " x");
      benchmarkReport.atMost("growth of unsealed data" + where, 1.25, unsealed.growth(), " x");
    }
    var p99 = halfLoad.ours().millis(0.99);
    benchmarkReport.atMost("p99 acknowledgement at half load" + where, P99_MILLIS, p99, " ms");
    benchmarkReport.atMost(
        "p99 acknowledgement at half load against a bare file at the same rate" + where,
        P99_RATIO,
        p99 / halfLoad.file().millis(0.99),
        " x");
    benchmarkReport.note("");
  }

  private static void note(BenchmarkReport benchmarkReport, String name, LatencyHistogram times) {
    benchmarkReport.note(
        "Acknowledged at half of Parley's speed, %s: p50 %s ms, p99 %s ms, of %,d appends"
            .formatted(name, shown(times.millis(0.5)), shown(times.millis(0.99)), times.count()));
  }
}
