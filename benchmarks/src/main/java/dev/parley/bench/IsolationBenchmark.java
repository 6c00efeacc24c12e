package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import dev.parley.tool.process.IsolationLevel;
import dev.parley.tool.process.ManagedProcesses;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand.ProcessStreams;
import dev.parley.tool.process.Sandbox;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/// The time from the start of a command to its end, at each level of isolation.
///
/// The levels take turns, so that other load on the machine affects all of them.
final class IsolationBenchmark implements Benchmark {

  private static final int COMMANDS_PER_TURN = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RunLength runLength;
  private final AtomicInteger ids = new AtomicInteger();

  IsolationBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "isolation";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("A command that does nothing, at each level of isolation");
    var histograms = new EnumMap<IsolationLevel, LatencyHistogram>(IsolationLevel.class);
    try (var temporaryFolder = TemporaryFolder.make()) {
      var data = Files.createDirectory(temporaryFolder.path().resolve("data"));
      var workspace = Files.createDirectory(temporaryFolder.path().resolve("workspace"));
      var levels = new EnumMap<IsolationLevel, ManagedProcesses>(IsolationLevel.class);
      for (var level : IsolationLevel.values()) {
        var trial =
            Sandbox.open(level, data.resolve("isolation"), List.of(data), List.of(workspace));
        if (trial.works()) {
          levels.put(level, children(data.resolve("children-" + level.wire()), trial.sandbox()));
          histograms.put(level, new LatencyHistogram());
        } else {
          benchmarkReport.note(level.wire() + " does not work here: " + trial.problem());
        }
      }
      for (var turn = 0; turn <= runLength.turns(); turn++) {
        for (var entry : levels.entrySet()) {
          // The first turn is the warm-up.
          var histogram = turn == 0 ? new LatencyHistogram() : histograms.get(entry.getKey());
          for (var i = 0; histogram != null && i < COMMANDS_PER_TURN; i++) {
            histogram.add(nanos(entry.getValue(), workspace));
          }
        }
      }
      levels.values().forEach(ManagedProcesses::close);
    }
    print(benchmarkReport, histograms);
  }

  private ManagedProcesses children(Path folder, Sandbox sandbox) {
    return new ManagedProcesses(folder, () -> "bench-" + ids.incrementAndGet(), sandbox);
  }

  private static long nanos(ManagedProcesses children, Path folder)
      throws IOException, InterruptedException {
    var command =
        new ProcessCommand(
            List.of("/bin/sh", "-c", ":"),
            folder,
            Map.of("PATH", "/usr/bin:/bin", "HOME", "/nowhere"),
            ProcessStreams.OUTPUT_ONLY);
    var start = System.nanoTime();
    try (var child = children.start(command)) {
      if (!child.await(PATIENCE) || child.exitCode() != 0) {
        throw new IOException("the command failed");
      }
      return System.nanoTime() - start;
    }
  }

  private static void print(
      BenchmarkReport benchmarkReport, Map<IsolationLevel, LatencyHistogram> histograms) {
    var table = new ReportTable("command, ms", "p50", "p99", "against none", "commands");
    var none = histograms.getOrDefault(IsolationLevel.NONE, new LatencyHistogram());
    histograms.forEach(
        (level, histogram) ->
            table.row(
                level.wire(),
                shown(histogram.millis(0.5)),
                shown(histogram.millis(0.99)),
                times(histogram.millis(0.5) / none.millis(0.5)),
                "%,d".formatted(histogram.count())));
    benchmarkReport.table(table);
  }
}
