package dev.parley.bench;

import java.io.IOException;

/// One thing that is measured.
interface Benchmark {

  /// What it is called on the command line.
  String name();

  /// Measures, and writes what it found to the report.
  void run(Report report) throws IOException, InterruptedException;
}
