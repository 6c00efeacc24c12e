package dev.parley.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The command line of `./bench`.
///
/// - `json`: the file for the results.
/// - `charts`: the folder for the charts.
/// - `from`: a file of earlier results, from which tables and charts are made without measuring.
/// - `data`: the folder in which `growth` keeps its data for the next run.
/// - `noise`: only measure the noise of the machine.
record BenchmarkOptions(
    List<String> names,
    RunLength runLength,
    Optional<Path> json,
    Optional<Path> charts,
    Optional<Path> from,
    Optional<Path> data,
    boolean noise) {

  static final String USAGE =
      """
      ./bench [--quick] [--json FILE] [--charts DIR] [--data DIR] [NAME] ...
             ./bench --from FILE [--charts DIR]
             ./bench --noise""";

  BenchmarkOptions {
    names = List.copyOf(names);
  }

  /// @throws IllegalArgumentException if an option is unknown or lacks its value
  static BenchmarkOptions parse(List<String> arguments) {
    var left = new ArrayList<>(arguments);
    var json = value(left, "--json");
    var charts = value(left, "--charts");
    var from = value(left, "--from");
    var data = value(left, "--data");
    var runLength = left.remove("--quick") ? RunLength.QUICK : RunLength.FULL;
    var noise = left.remove("--noise");
    for (var name : left) {
      if (name.startsWith("-")) {
        throw new IllegalArgumentException("No such option: " + name);
      }
    }
    return new BenchmarkOptions(left, runLength, json, charts, from, data, noise);
  }

  private static Optional<Path> value(List<String> arguments, String option) {
    var at = arguments.indexOf(option);
    if (at < 0) {
      return Optional.empty();
    }
    if (at + 1 == arguments.size()) {
      throw new IllegalArgumentException(option + " needs a value");
    }
    arguments.remove(at);
    return Optional.of(Path.of(arguments.remove(at)));
  }
}
