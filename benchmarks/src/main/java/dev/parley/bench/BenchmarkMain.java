package dev.parley.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// The program `bench`: runs the named benchmarks, or all.
public final class BenchmarkMain {

  private static final int USAGE = 2;

  private BenchmarkMain() {}

  /// Runs the benchmarks in `arguments`; `--quick` makes them shorter and less exact.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    var names = new ArrayList<>(List.of(arguments));
    var runLength = names.remove("--quick") ? RunLength.QUICK : RunLength.FULL;
    var all = all(runLength);
    var known = all.stream().map(Benchmark::name).toList();
    if (!known.containsAll(names)) {
      names.removeAll(known);
      System.err.println("No such benchmark: " + String.join(", ", names));
      System.err.println("Usage: ./bench [--quick] [" + String.join("|", known) + "] ...");
      System.exit(USAGE);
    }
    run(all.stream().filter(b -> names.isEmpty() || names.contains(b.name())).toList());
    System.exit(0);
  }

  static List<Benchmark> all(RunLength runLength) {
    return List.of(
        new AppendBenchmark(runLength),
        new BytesBenchmark(runLength),
        new FanoutBenchmark(runLength),
        new LatencyBenchmark(runLength),
        new DeleteBenchmark(runLength),
        new TasksBenchmark(runLength),
        new RelayBenchmark(runLength),
        new StartupBenchmark(runLength));
  }

  private static void run(List<Benchmark> benchmarks) throws IOException, InterruptedException {
    var benchmarkReport = new BenchmarkReport(System.out);
    MachineInfo.describe(benchmarkReport);
    for (var benchmark : benchmarks) {
      benchmark.run(benchmarkReport);
    }
    benchmarkReport.summary();
  }
}
