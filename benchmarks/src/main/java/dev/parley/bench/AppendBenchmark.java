package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Durable appends per second, compared with a row and a transaction per event and with a bare
/// file.
///
/// The contenders stay open and take turns, so that other load on the machine affects all of them.
/// The result is the median of each contender's turns.
final class AppendBenchmark implements Benchmark {

  private static final double P99_MILLIS = 20;

  private final RunLength runLength;
  private final SampleText sampleText = new SampleText();

  /// The speed of one contender in each of its turns.
  private record Speed(String name, List<Double> turns) {
    double median() {
      return Median.of(turns);
    }
  }

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
    for (var contexts : runLength.contexts()) {
      try (var temporaryFolder = TemporaryFolder.make();
          var parley = new ParleyAppender(temporaryFolder.path(), contexts);
          var rows = new RowPerEventAppender(temporaryFolder.path(), contexts, 1);
          var file = new BareFileAppender(temporaryFolder.path())) {
        compare(benchmarkReport, contexts, parley, rows, file);
      }
    }
  }

  private void compare(
      BenchmarkReport benchmarkReport,
      int contexts,
      ParleyAppender parley,
      RowPerEventAppender rows,
      BareFileAppender file)
      throws InterruptedException {
    var ours = new AppendLoad(parley, sampleText, contexts);
    var loads =
        List.of(
            ours,
            new AppendLoad(rows, sampleText, contexts),
            new AppendLoad(file, sampleText, contexts));
    var speeds =
        List.of(
            new Speed(parley.name(), new ArrayList<>()),
            new Speed(rows.name(), new ArrayList<>()),
            new Speed(file.name(), new ArrayList<>()));
    for (var appendLoad : loads) {
      appendLoad.atFullSpeed(runLength.warmUp());
    }
    try (var unsealed = new UnsealedSampler(parley)) {
      for (var turn = 0; turn < runLength.turns(); turn++) {
        for (var i = 0; i < loads.size(); i++) {
          unsealed.setSampling(i == 0);
          speeds.get(i).turns().add(loads.get(i).atFullSpeed(runLength.turn()));
        }
      }
      unsealed.setSampling(false);
      print(benchmarkReport, contexts, speeds);
      var rate = speeds.getFirst().median() / 2;
      var halfLoad = ours.atFixedRate(rate, runLength.halfLoad());
      note(benchmarkReport, "Parley", halfLoad);
      // For comparison: the share of the disk, and of other load on the machine.
      note(benchmarkReport, "bare file", loads.getLast().atFixedRate(rate, runLength.halfLoad()));
      benchmarkReport.note(unsealed.summary());
      judge(benchmarkReport, contexts, speeds, unsealed, halfLoad);
    }
  }

  private static void print(BenchmarkReport benchmarkReport, int contexts, List<Speed> speeds) {
    var reportTable =
        new ReportTable(counted(contexts), "events/s", "slowest turn", "fastest", "Parley is");
    var ours = speeds.getFirst().median();
    for (var speed : speeds) {
      var turns = speed.turns().stream().mapToDouble(x -> x).summaryStatistics();
      reportTable.row(
          speed.name(),
          shown(speed.median()),
          shown(turns.getMin()),
          shown(turns.getMax()),
          times(ours / speed.median()));
    }
    benchmarkReport.table(reportTable);
  }

  private void judge(
      BenchmarkReport benchmarkReport,
      int contexts,
      List<Speed> speeds,
      UnsealedSampler unsealed,
      LatencyHistogram halfLoad) {
    var where = " at " + counted(contexts);
    var ours = speeds.getFirst().median();
    if (contexts >= 100) {
      var wanted = contexts >= 1_000 ? 40 : 30;
      var rows = ours / speeds.get(1).median();
      benchmarkReport.atLeast("append against a row per event" + where, wanted, rows, " x");
      if (contexts < 1_000) {
        var file = ours / speeds.get(2).median();
        benchmarkReport.atLeast("append against a bare file" + where, 0.4, file, " x");
      }
      benchmarkReport.atMost("growth of unsealed data" + where, 1.25, unsealed.growth(), " x");
    }
    benchmarkReport.atMost(
        "p99 acknowledgement at half load" + where, P99_MILLIS, halfLoad.millis(0.99), " ms");
    benchmarkReport.note("");
  }

  private static void note(BenchmarkReport benchmarkReport, String name, LatencyHistogram times) {
    benchmarkReport.note(
        "Acknowledged at half of Parley's speed, %s: p50 %s ms, p99 %s ms, of %,d appends"
            .formatted(name, shown(times.millis(0.5)), shown(times.millis(0.99)), times.count()));
  }

  private static String counted(int contexts) {
    return contexts == 1 ? "1 context" : "%,d contexts".formatted(contexts);
  }
}
