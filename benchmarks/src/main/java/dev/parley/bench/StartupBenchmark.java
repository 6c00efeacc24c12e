package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// The time from the start of the program until it accepts requests, and its memory when idle.
///
/// The first start is not counted, because it may build the program.
final class StartupBenchmark implements Benchmark {

  private static final double MIB = 1 << 20;

  private final RunLength runLength;

  StartupBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "startup";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Start-up: from the process's start to 'Parley is ready'");
    var program = RepositoryRoot.root().map(root -> root.resolve("parley"));
    var seconds = new ArrayList<Double>();
    var resident = 0L;
    for (var i = 0; i <= runLength.starts(); i++) {
      try (var temporaryFolder = TemporaryFolder.make()) {
        var begin = System.nanoTime();
        try (var server = start(program, temporaryFolder.path())) {
          server.await("Parley is ready: ");
          seconds.add((System.nanoTime() - begin) / 1e9);
          if (i == runLength.starts()) {
            TimeUnit.MILLISECONDS.sleep(runLength.idle().toMillis());
            resident = MachineInfo.residentBytes(server.pid());
          }
        }
      }
    }
    var first = seconds.removeFirst();
    print(benchmarkReport, program.isPresent(), seconds, first, resident);
  }

  private static BenchmarkProcess start(Optional<Path> program, Path data) throws IOException {
    var arguments = List.of("serve", "--port", "0", "--data", data.toString());
    if (program.isEmpty()) {
      return BenchmarkProcess.server(dev.parley.app.Main.class, arguments.toArray(String[]::new));
    }
    var command = new ArrayList<String>();
    command.add(program.get().toString());
    command.addAll(arguments);
    return BenchmarkProcess.start(command, data);
  }

  private static void print(
      BenchmarkReport benchmarkReport,
      boolean real,
      List<Double> seconds,
      double first,
      long resident) {
    var sorted = seconds.stream().sorted().toList();
    var middle = Median.of(seconds);
    benchmarkReport.table(
        new ReportTable(real ? "./parley serve" : "java, without ./parley", "measured")
            .row("first start, s", shown(first))
            .row("later starts, fastest, s", shown(sorted.getFirst()))
            .row("later starts, middle, s", shown(middle))
            .row("later starts, slowest, s", shown(sorted.getLast()))
            .row("resident memory when idle, MB", resident < 0 ? "?" : shown(resident / MIB)));
    benchmarkReport.atMost("start to ready", 0.7, middle, " s");
    if (resident >= 0) {
      benchmarkReport.atMost("idle resident memory", 100, resident / MIB, " MB");
    }
  }
}
