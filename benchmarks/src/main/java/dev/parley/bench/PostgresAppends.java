package dev.parley.bench;

import dev.parley.bench.PostgresPeer.PeerDatabase;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;

/// Appends to PostgreSQL: Parley's log, and designs with a row per event.
final class PostgresAppends {

  private static final double ROWS_RATIO = 5;
  private static final int CONTEXTS_FOR_GOALS = 100;

  /// A usual size of an application's pool.
  private static final int POOL = 16;

  private static final int BATCH_MAX = 4_096;

  private static final String PARLEY = "Parley on PostgreSQL";
  private static final String SQLITE = "Parley on SQLite";
  private static final String ROWS =
      "row and transaction per event, up to " + POOL + " connections";
  private static final String NOTIFY = "the same, and a NOTIFY per event";
  private static final String BATCHES = "row per event, many per transaction";

  private final RunLength runLength;
  private final SampleText sampleText = new SampleText();
  private final BenchmarkReport benchmarkReport;

  PostgresAppends(RunLength runLength, BenchmarkReport benchmarkReport) {
    this.runLength = runLength;
    this.benchmarkReport = benchmarkReport;
  }

  /// Compares the speeds of all designs, with each number of contexts.
  void speeds(PostgresPeer postgres) throws IOException, InterruptedException, SQLException {
    var throughput = new ChartLines();
    for (var contexts : runLength.contexts()) {
      try (var temporaryFolder = TemporaryFolder.make();
          var parley = parley(postgres, contexts);
          var sqlite = new ParleyAppender(SQLITE, temporaryFolder.path(), contexts);
          var rows = rows(postgres.createDatabase(), contexts);
          var batches = batches(postgres, contexts)) {
        var notifying = postgres.createDatabase();
        try (var notifier =
                new RowPerEventAppender(
                    NOTIFY, notifying.connect(Math.min(POOL, contexts)), contexts, 1);
            var _ = new NotificationReader(notifying.connect(1).getFirst(), _ -> {})) {
          var comparison = compare(contexts, List.of(parley, sqlite, rows, notifier, batches));
          comparison.addTo(throughput);
          judge(contexts, comparison);
        }
      }
    }
    benchmarkReport.chart(
        throughput.chart(
            "cluster-appends", "Durable appends to PostgreSQL", "contexts", "events/s"));
  }

  /// Does the same in a server whose commits wait for a standby, too, without goals.
  void speedsWithStandby(PostgresPeer postgres) throws InterruptedException, SQLException {
    for (var contexts : runLength.contexts()) {
      try (var parley = parley(postgres, contexts);
          var rows = rows(postgres.createDatabase(), contexts);
          var batches = batches(postgres, contexts)) {
        compare(contexts, List.of(parley, rows, batches));
      }
    }
  }

  private AppendComparison compare(int contexts, List<DurableAppender> contenders)
      throws InterruptedException {
    var comparison = new AppendComparison(runLength, sampleText, contexts, contenders);
    comparison.run(_ -> {});
    comparison.print(benchmarkReport);
    return comparison;
  }

  private void judge(int contexts, AppendComparison comparison) {
    if (contexts >= CONTEXTS_FOR_GOALS) {
      benchmarkReport.atLeast(
          "append to PostgreSQL against a row per event at " + AppendComparison.counted(contexts),
          ROWS_RATIO,
          comparison.ratio(2),
          " x");
      benchmarkReport.note("");
    }
  }

  private static ParleyAppender parley(PostgresPeer postgres, int contexts) throws SQLException {
    return ParleyAppender.inPostgres(PARLEY, postgres.createDatabase().address(), contexts);
  }

  private static RowPerEventAppender rows(PeerDatabase database, int contexts) throws SQLException {
    return new RowPerEventAppender(ROWS, database.connect(Math.min(POOL, contexts)), contexts, 1);
  }

  private static RowPerEventAppender batches(PostgresPeer postgres, int contexts)
      throws SQLException {
    return new RowPerEventAppender(
        BATCHES, postgres.createDatabase().connect(1), contexts, BATCH_MAX);
  }
}
