package dev.parley.bench;

import java.io.IOException;

/// A benchmark of the command line `./bench`.
interface Benchmark {

  /// Its name on the command line.
  String name();

  /// Measures, and writes the results to the report.
  void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException;
}
