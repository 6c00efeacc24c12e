package dev.parley.bench;

import java.io.IOException;
import java.sql.SQLException;

/// Several servers on one PostgreSQL database: appends, readers on other servers, takeovers and load.
final class ClusterBenchmark implements Benchmark {

  private final RunLength runLength;

  ClusterBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "cluster";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Several servers on one PostgreSQL database");
    try (var temporaryFolder = TemporaryFolder.make()) {
      var started = PostgresPeer.start(temporaryFolder.path(), benchmarkReport);
      if (started.isPresent()) {
        try (var postgres = started.get()) {
          benchmarkReport.note(postgres.describe());
          benchmarkReport.note("");
          measure(postgres, benchmarkReport);
        }
        withStandby(benchmarkReport);
      }
    } catch (SQLException failed) {
      throw new IOException("PostgreSQL cannot be measured", failed);
    }
  }

  private void measure(PostgresPeer postgres, BenchmarkReport benchmarkReport)
      throws IOException, InterruptedException, SQLException {
    new PostgresAppends(runLength, benchmarkReport).speeds(postgres);
    new ReceiptBenchmark(runLength, postgres).run(benchmarkReport);
    try (var servers = new ClusterServers(postgres.createDatabase(), 2)) {
      var readers = new ClusterReaders(runLength, servers);
      readers.receipts(benchmarkReport);
      readers.fanout(benchmarkReport);
      new TakeoverBenchmark(runLength.takeovers(), servers, benchmarkReport).run();
      benchmarkReport.note("");
      new ClusterLoad(runLength, servers).run(benchmarkReport);
    }
  }

  private void withStandby(BenchmarkReport benchmarkReport)
      throws IOException, InterruptedException, SQLException {
    try (var temporaryFolder = TemporaryFolder.make();
        var postgres = PostgresPeer.startWithStandby(temporaryFolder.path())) {
      benchmarkReport.note(postgres.describe());
      benchmarkReport.note("");
      new PostgresAppends(runLength, benchmarkReport).speedsWithStandby(postgres);
    }
  }
}
