package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;

/// The speeds of several appenders, which take turns. The first one is Parley, with which the others
/// are compared.
final class AppendComparison {

  private final RunLength runLength;
  private final int contexts;
  private final List<AppendLoad> loads;
  private final List<Speed> speeds;

  /// The speed of one contender in each of its turns.
  private record Speed(String name, List<Double> turns) {
    double median() {
      return Median.of(turns);
    }
  }

  AppendComparison(
      RunLength runLength, SampleText sampleText, int contexts, List<DurableAppender> contenders) {
    this.runLength = runLength;
    this.contexts = contexts;
    loads =
        contenders.stream()
            .map(contender -> new AppendLoad(contender, sampleText, contexts))
            .toList();
    speeds = contenders.stream().map(one -> new Speed(one.name(), new ArrayList<>())).toList();
  }

  /// Warms up and runs all turns. Calls `beforeTurn` with the index of the contender.
  void run(IntConsumer beforeTurn) throws InterruptedException {
    for (var appendLoad : loads) {
      appendLoad.atFullSpeed(runLength.warmUp());
    }
    for (var turn = 0; turn < runLength.turns(); turn++) {
      for (var i = 0; i < loads.size(); i++) {
        beforeTurn.accept(i);
        speeds.get(i).turns().add(loads.get(i).atFullSpeed(runLength.turn()));
      }
    }
  }

  /// The load of a contender, for further measurements.
  AppendLoad load(int contender) {
    return loads.get(contender);
  }

  /// The median speed of a contender, in events per second.
  double speed(int contender) {
    return speeds.get(contender).median();
  }

  /// The speed of Parley divided by that of a contender.
  double ratio(int contender) {
    return speed(0) / speed(contender);
  }

  void print(BenchmarkReport benchmarkReport) {
    var reportTable =
        new ReportTable(counted(contexts), "events/s", "slowest turn", "fastest", "Parley is");
    for (var i = 0; i < speeds.size(); i++) {
      var turns = speeds.get(i).turns().stream().mapToDouble(x -> x).summaryStatistics();
      reportTable.row(
          speeds.get(i).name(),
          shown(speed(i)),
          shown(turns.getMin()),
          shown(turns.getMax()),
          times(ratio(i)));
    }
    benchmarkReport.table(reportTable);
  }

  void addTo(ChartLines throughput) {
    speeds.forEach(speed -> throughput.add(speed.name(), contexts, speed.median()));
  }

  static String counted(int contexts) {
    return contexts == 1 ? "1 context" : "%,d contexts".formatted(contexts);
  }
}
