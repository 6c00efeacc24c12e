package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;

import java.io.IOException;
import java.sql.SQLException;
import java.util.List;

/// The time from an append to its receipt by a reader in the same process, at a fixed rate: Parley's
/// log, and a row and a notification per event.
final class ReceiptBenchmark {

  private final RunLength runLength;
  private final PostgresPeer postgres;

  /// An appender whose texts are the times of their appends.
  private record TimedAppender(DurableAppender appender, LatencyHistogram times) {
    TimedAppender(DurableAppender appender) {
      this(appender, new LatencyHistogram());
    }

    void append(int index) {
      appender.append(0, index, Long.toString(System.nanoTime()));
    }

    void received(String text) {
      times.add(System.nanoTime() - Long.parseLong(text));
    }
  }

  ReceiptBenchmark(RunLength runLength, PostgresPeer postgres) {
    this.runLength = runLength;
    this.postgres = postgres;
  }

  void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException, SQLException {
    var rowDatabase = postgres.createDatabase();
    var logDatabase = postgres.createDatabase();
    try (var temporaryFolder = TemporaryFolder.make();
        var parley = ParleyAppender.inPostgres("Parley on PostgreSQL", logDatabase.address(), 1);
        var sqlite = new ParleyAppender("Parley on SQLite", temporaryFolder.path(), 1);
        var rows =
            new RowPerEventAppender("row and NOTIFY per event", rowDatabase.connect(1), 1, 1)) {
      var contenders =
          List.of(new TimedAppender(parley), new TimedAppender(sqlite), new TimedAppender(rows));
      try (var _ = new AppendedTextReader(parley, contenders.get(0)::received);
          var _ = new AppendedTextReader(sqlite, contenders.get(1)::received);
          var _ =
              new NotificationReader(
                  rowDatabase.connect(1).getFirst(), contenders.get(2)::received)) {
        append(contenders);
      }
      print(benchmarkReport, contenders);
    }
  }

  /// The contenders take turns with every append. The first half warms up.
  private void append(List<TimedAppender> contenders) {
    var pace = new Pace(contenders.size() * ClusterReaders.RATE);
    for (var index = 0; index < 2 * runLength.posts(); index++) {
      for (var contender : contenders) {
        if (index == runLength.posts()) {
          contender.times().clear();
        }
        contender.append(index);
        pace.await();
      }
    }
  }

  private static void print(BenchmarkReport benchmarkReport, List<TimedAppender> contenders) {
    var reportTable =
        new ReportTable(
            "append to receipt in one process, %d/s".formatted(ClusterReaders.RATE),
            "p50 ms",
            "p99 ms",
            "receipts");
    for (var contender : contenders) {
      reportTable.row(
          contender.appender().name(),
          shown(contender.times().millis(0.5)),
          shown(contender.times().millis(0.99)),
          "%,d".formatted(contender.times().count()));
    }
    benchmarkReport.table(reportTable);
  }
}
