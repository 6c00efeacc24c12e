package dev.parley.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// The program `bench`: runs the named benchmarks, or all.
public final class Main {

  private static final int USAGE = 2;

  private Main() {}

  /// Runs the benchmarks in `arguments`; `--quick` makes them shorter and less exact.
  public static void main(String[] arguments) throws IOException, InterruptedException {
    var names = new ArrayList<>(List.of(arguments));
    var pace = names.remove("--quick") ? Pace.QUICK : Pace.FULL;
    var all = all(pace);
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

  static List<Benchmark> all(Pace pace) {
    return List.of(
        new AppendBenchmark(pace),
        new BytesBenchmark(pace),
        new FanoutBenchmark(pace),
        new LatencyBenchmark(pace),
        new DeleteBenchmark(pace),
        new TasksBenchmark(pace),
        new RelayBenchmark(pace),
        new StartupBenchmark(pace));
  }

  private static void run(List<Benchmark> benchmarks) throws IOException, InterruptedException {
    var report = new Report(System.out);
    Machine.describe(report);
    for (var benchmark : benchmarks) {
      benchmark.run(report);
    }
    report.summary();
  }
}
