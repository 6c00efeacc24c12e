package dev.parley.bench;

import java.io.IOException;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/// The program `bench`: runs the named benchmarks, or all.
public final class BenchmarkMain {

  private static final int USAGE = 2;

  private BenchmarkMain() {}

  /// Runs the benchmarks in `arguments`; see [BenchmarkOptions].
  public static void main(String[] arguments) throws IOException, InterruptedException {
    try {
      run(BenchmarkOptions.parse(List.of(arguments)));
    } catch (IllegalArgumentException wrong) {
      System.err.println(wrong.getMessage());
      System.err.println("Usage: " + BenchmarkOptions.USAGE);
      System.exit(USAGE);
    }
    System.exit(0);
  }

  static List<Benchmark> all(BenchmarkOptions options) {
    var runLength = options.runLength();
    var all = new ArrayList<Benchmark>();
    Collections.addAll(
        all,
        new AppendBenchmark(runLength),
        new BytesBenchmark(runLength),
        new EncryptionBenchmark(runLength),
        new FanoutBenchmark(runLength),
        new LatencyBenchmark(runLength),
        new DeleteBenchmark(runLength),
        new TasksBenchmark(runLength),
        new RunsBenchmark(runLength),
        new RelayBenchmark(runLength),
        new StartupBenchmark(runLength),
        new IsolationBenchmark(runLength),
        new AuthBenchmark(runLength),
        new ClusterBenchmark(runLength));
    for (var growthKind : GrowthKind.values()) {
      all.add(new GrowthBenchmark(growthKind, runLength.growth(), options.data()));
    }
    return all;
  }

  private static void run(BenchmarkOptions options) throws IOException, InterruptedException {
    if (options.from().isPresent()) {
      var results = BenchmarkResults.read(options.from().get());
      System.out.print(results.markdown());
      writeCharts(options, results);
      return;
    }
    var benchmarks = named(options);
    var benchmarkReport = new BenchmarkReport(System.out);
    MachineInfo.describe(benchmarkReport);
    if (options.noise()) {
      return;
    }
    for (var benchmark : benchmarks) {
      benchmark.run(benchmarkReport);
      // After each, so that the results of a run that is ended early are kept.
      write(options, benchmarkReport);
    }
    benchmarkReport.summary();
  }

  /// A name such as `growth` also means all benchmarks that begin with `growth-`.
  private static List<Benchmark> named(BenchmarkOptions options) {
    var all = all(options);
    for (var name : options.names()) {
      if (all.stream().noneMatch(one -> has(one, name))) {
        var known = all.stream().map(Benchmark::name).toList();
        throw new IllegalArgumentException(
            "No such benchmark: " + name + ". There are: " + String.join(", ", known));
      }
    }
    return all.stream()
        .filter(
            one ->
                options.names().isEmpty()
                    || options.names().stream().anyMatch(name -> has(one, name)))
        .toList();
  }

  private static boolean has(Benchmark benchmark, String name) {
    return benchmark.name().equals(name) || benchmark.name().startsWith(name + "-");
  }

  private static void write(BenchmarkOptions options, BenchmarkReport benchmarkReport)
      throws IOException {
    var commit = Optional.ofNullable(System.getProperty("parley.commit")).orElse("unknown");
    var results = benchmarkReport.results(LocalDate.now(ZoneOffset.UTC).toString(), commit);
    if (options.json().isPresent()) {
      results.write(options.json().get());
    }
    writeCharts(options, results);
  }

  private static void writeCharts(BenchmarkOptions options, BenchmarkResults results)
      throws IOException {
    if (options.charts().isPresent()) {
      results.writeCharts(options.charts().get());
    }
  }
}
