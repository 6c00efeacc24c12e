package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import dev.parley.encryption.MasterKeyFile;
import dev.parley.log.LogEncryption;
import dev.parley.log.OwnerOnlyFiles;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/// What encryption at rest costs: durable appends, replay from the disk, opening the log, and bytes on
/// the disk, each with and without. Both logs take turns.
final class EncryptionBenchmark implements Benchmark {

  private static final double COST_MAX = 1.1;
  private static final int BYTES_CONTEXTS = 100;
  private static final int PAGE = 500;

  private final RunLength runLength;
  private final SampleText sampleText = new SampleText();

  EncryptionBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "encryption";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Encryption at rest: with and without");
    for (var contexts : runLength.contexts()) {
      appends(benchmarkReport, contexts);
    }
    stored(benchmarkReport);
  }

  /// Creates a master key in `folder`.
  private static LogEncryption encryption(Path folder) throws IOException {
    var file = folder.resolve("master.key");
    OwnerOnlyFiles.createFile(file);
    Files.writeString(file, MasterKeyFile.newLine() + "\n");
    return LogEncryption.with(new MasterKeyFile(file));
  }

  private void appends(BenchmarkReport benchmarkReport, int contexts)
      throws IOException, InterruptedException {
    try (var folder = TemporaryFolder.make();
        var keys = TemporaryFolder.make();
        var plain =
            open("not encrypted", folder.path().resolve("a"), LogEncryption.none(), contexts);
        var encrypted =
            open("encrypted", folder.path().resolve("b"), encryption(keys.path()), contexts)) {
      var comparison =
          new AppendComparison(runLength, sampleText, contexts, List.of(plain, encrypted));
      comparison.run(_ -> {});
      comparison.print(benchmarkReport);
      benchmarkReport.atMost(
          "appends, not encrypted against encrypted, at " + AppendComparison.counted(contexts),
          COST_MAX,
          comparison.ratio(1),
          " x");
    }
  }

  private static ParleyAppender open(
      String name, Path folder, LogEncryption encryption, int contexts) {
    var log = ParleyAppender.open(folder, InstantSource.system(), encryption);
    return new ParleyAppender(name, log, contexts);
  }

  /// A closed log with the same text in each variant.
  private record StoredLog(
      String name, Path folder, LogEncryption encryption, List<Double> opens, List<Double> reads) {}

  private void stored(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    try (var folder = TemporaryFolder.make();
        var keys = TemporaryFolder.make()) {
      var logs =
          List.of(
              new StoredLog(
                  "not encrypted",
                  folder.path().resolve("a"),
                  LogEncryption.none(),
                  new ArrayList<>(),
                  new ArrayList<>()),
              new StoredLog(
                  "encrypted",
                  folder.path().resolve("b"),
                  encryption(keys.path()),
                  new ArrayList<>(),
                  new ArrayList<>()));
      var each = runLength.tokens() / BYTES_CONTEXTS;
      var conversations = new ArrayList<List<ContextId>>();
      for (var stored : logs) {
        try (var appender =
            open(stored.name(), stored.folder(), stored.encryption(), BYTES_CONTEXTS)) {
          new AppendLoad(appender, sampleText, BYTES_CONTEXTS).append(each);
          var ids = new ArrayList<ContextId>();
          for (var i = 0; i < BYTES_CONTEXTS; i++) {
            ids.add(appender.context(i));
          }
          conversations.add(ids);
        }
      }
      // The first turn warms up.
      for (var turn = 0; turn <= runLength.turns(); turn++) {
        for (var i = 0; i < logs.size(); i++) {
          measure(logs.get(i), conversations.get(i), turn > 0);
        }
      }
      print(benchmarkReport, logs, each * BYTES_CONTEXTS);
    }
  }

  /// Opens the log and reads all of it.
  private static void measure(StoredLog stored, List<ContextId> contexts, boolean counts) {
    var begin = System.nanoTime();
    try (var log =
        ParleyAppender.open(stored.folder(), InstantSource.system(), stored.encryption())) {
      var opened = System.nanoTime();
      var events = 0L;
      for (var context : contexts) {
        var after = Position.START;
        var page = log.read(context, after, PAGE);
        while (!page.isEmpty()) {
          events += page.size();
          page = log.read(context, page.getLast().position(), PAGE);
        }
      }
      var read = System.nanoTime();
      if (counts) {
        stored.opens().add((opened - begin) / 1e6);
        stored.reads().add(events / ((read - opened) / 1e9));
      }
    }
  }

  private static void print(BenchmarkReport benchmarkReport, List<StoredLog> logs, int tokens)
      throws IOException {
    var table =
        new ReportTable(
            "%,d tokens, %d contexts".formatted(tokens, BYTES_CONTEXTS),
            "replayed events/s",
            "opened in ms",
            "bytes/token");
    var bytes = new double[logs.size()];
    for (var i = 0; i < logs.size(); i++) {
      var stored = logs.get(i);
      bytes[i] = (double) Files.size(stored.folder().resolve("log.db")) / tokens;
      table.row(
          stored.name(),
          shown(Median.of(stored.reads())),
          shown(Median.of(stored.opens())),
          shown(bytes[i]));
    }
    var reads = Median.of(logs.get(0).reads()) / Median.of(logs.get(1).reads());
    var opens = Median.of(logs.get(1).opens()) / Median.of(logs.get(0).opens());
    table.row("cost of encryption", times(reads), times(opens), times(bytes[1] / bytes[0]));
    benchmarkReport.table(table);
    benchmarkReport.atMost(
        "replayed events/s, not encrypted against encrypted", COST_MAX, reads, " x");
    benchmarkReport.atMost(
        "bytes on the disk, encrypted against not encrypted", COST_MAX, bytes[1] / bytes[0], " x");
  }
}
