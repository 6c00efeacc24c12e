package dev.parley.bench;

import static dev.parley.bench.Report.shown;
import static dev.parley.bench.Report.times;

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

  private final Pace pace;
  private final Prose prose = new Prose();

  /// The speed of one contender in each of its turns.
  private record Speed(String name, List<Double> turns) {
    double middle() {
      return Middle.of(turns);
    }
  }

  AppendBenchmark(Pace pace) {
    this.pace = pace;
  }

  @Override
  public String name() {
    return "append";
  }

  @Override
  public void run(Report report) throws IOException, InterruptedException {
    report.title("Durable append: a token at a time, each acknowledged when it is on the disk");
    for (var contexts : pace.contexts()) {
      try (var folder = Folder.make();
          var parley = new ParleyAppender(folder.path(), contexts);
          var rows = new RowPerEvent(folder.path(), contexts, 1);
          var file = new BareFile(folder.path())) {
        compare(report, contexts, parley, rows, file);
      }
    }
  }

  private void compare(
      Report report, int contexts, ParleyAppender parley, RowPerEvent rows, BareFile file)
      throws InterruptedException {
    var ours = new Load(parley, prose, contexts);
    var loads = List.of(ours, new Load(rows, prose, contexts), new Load(file, prose, contexts));
    var speeds =
        List.of(
            new Speed(parley.name(), new ArrayList<>()),
            new Speed(rows.name(), new ArrayList<>()),
            new Speed(file.name(), new ArrayList<>()));
    for (var load : loads) {
      load.atFullSpeed(pace.warmUp());
    }
    try (var unsealed = new UnsealedWatch(parley)) {
      for (var turn = 0; turn < pace.turns(); turn++) {
        for (var i = 0; i < loads.size(); i++) {
          unsealed.watch(i == 0);
          speeds.get(i).turns().add(loads.get(i).atFullSpeed(pace.turn()));
        }
      }
      unsealed.watch(false);
      print(report, contexts, speeds);
      var rate = speeds.getFirst().middle() / 2;
      var halfLoad = ours.byTimetable(rate, pace.halfLoad());
      note(report, "Parley", halfLoad);
      // For comparison: the share of the disk, and of other load on the machine.
      note(report, "bare file", loads.getLast().byTimetable(rate, pace.halfLoad()));
      report.note(unsealed.words());
      judge(report, contexts, speeds, unsealed, halfLoad);
    }
  }

  private static void print(Report report, int contexts, List<Speed> speeds) {
    var table = new Table(counted(contexts), "events/s", "slowest turn", "fastest", "Parley is");
    var ours = speeds.getFirst().middle();
    for (var speed : speeds) {
      var turns = speed.turns().stream().mapToDouble(x -> x).summaryStatistics();
      table.row(
          speed.name(),
          shown(speed.middle()),
          shown(turns.getMin()),
          shown(turns.getMax()),
          times(ours / speed.middle()));
    }
    report.table(table);
  }

  private void judge(
      Report report, int contexts, List<Speed> speeds, UnsealedWatch unsealed, Histogram halfLoad) {
    var where = " at " + counted(contexts);
    var ours = speeds.getFirst().middle();
    if (contexts >= 100) {
      var wanted = contexts >= 1_000 ? 40 : 30;
      var rows = ours / speeds.get(1).middle();
      report.atLeast("append against a row per event" + where, wanted, rows, " x");
      if (contexts < 1_000) {
        var file = ours / speeds.get(2).middle();
        report.atLeast("append against a bare file" + where, 0.4, file, " x");
      }
      report.atMost("growth of unsealed data" + where, 1.25, unsealed.growth(), " x");
    }
    report.atMost(
        "p99 acknowledgement at half load" + where, P99_MILLIS, halfLoad.millis(0.99), " ms");
    report.note("");
  }

  private static void note(Report report, String name, Histogram times) {
    report.note(
        "Acknowledged at half of Parley's speed, %s: p50 %s ms, p99 %s ms, of %,d appends"
            .formatted(name, shown(times.millis(0.5)), shown(times.millis(0.99)), times.count()));
  }

  private static String counted(int contexts) {
    return contexts == 1 ? "1 context" : "%,d contexts".formatted(contexts);
  }
}
