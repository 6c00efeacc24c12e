package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;

import dev.parley.protocol.ContextId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/// How the server behaves as one kind of data grows: several sizes, and the curve of each measure
/// over the size.
///
/// The data is written by the log in this process. Then the real program is started on it, and
/// measured over HTTP.
final class GrowthBenchmark implements Benchmark {

  private static final double MB = 1e6;
  private static final long GOAL_CONTEXTS = 100_000;
  private static final double GOAL_RATIO = 1.5;
  private static final List<GrowthMeasure> GOALS =
      List.of(
          GrowthMeasure.RESIDENT_IDLE,
          GrowthMeasure.RESIDENT,
          GrowthMeasure.START,
          GrowthMeasure.START_AFTER_KILL);
  private static final String SAMPLES = "contexts.txt";
  private static final String REFUSED_TEXT = "x".repeat(10_000_000);

  private final GrowthKind growthKind;
  private final GrowthSizes sizes;
  private final Optional<Path> keptData;

  /// The measures at one size.
  private record Grown(long size, Map<GrowthMeasure, Double> values) {
    /// A value that every size has.
    double value(GrowthMeasure measure) {
      return Objects.requireNonNull(values.get(measure));
    }
  }

  /// Keeps the data that it writes in `keptData`, and uses it again in the next run.
  GrowthBenchmark(GrowthKind growthKind, GrowthSizes sizes, Optional<Path> keptData) {
    this.growthKind = growthKind;
    this.sizes = sizes;
    this.keptData = keptData;
  }

  @Override
  public String name() {
    return "growth-" + growthKind.id();
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Growth: " + growthKind.title());
    var grown = new ArrayList<Grown>();
    for (var size : sizes.of(growthKind)) {
      if (growthKind == GrowthKind.STREAMS && !OpenFiles.enoughFor(size)) {
        benchmarkReport.note(
            "%,d streams left out: only %,d files may be open (ulimit -n)"
                .formatted(size, OpenFiles.max()));
      } else {
        grown.add(measure(size));
      }
    }
    if (!grown.isEmpty()) {
      report(benchmarkReport, grown);
    }
  }

  private Grown measure(long size) throws IOException, InterruptedException {
    if (keptData.isPresent()) {
      var folder = keptData.get().resolve(growthKind.id() + "-" + size);
      Files.createDirectories(folder);
      return measure(size, folder);
    }
    try (var temporaryFolder = TemporaryFolder.make()) {
      return measure(size, temporaryFolder.path());
    }
  }

  private Grown measure(long size, Path folder) throws IOException, InterruptedException {
    var contexts = write(growthKind, size, folder);
    var values = new EnumMap<GrowthMeasure, Double>(GrowthMeasure.class);
    if (sizes.restarts()) {
      try (var server = GrowthServer.start(folder)) {
        var first = new GrowthProbe(server.port(), contexts).firstListSeconds();
        values.put(GrowthMeasure.FIRST_LIST, first);
      }
    }
    try (var server = GrowthServer.start(folder)) {
      values.put(GrowthMeasure.START, server.startSeconds());
      values.put(GrowthMeasure.RESIDENT_IDLE, server.residentBytes() / MB);
      if (growthKind == GrowthKind.STREAMS) {
        withOpenStreams(server, contexts, values);
      } else {
        probe(server, contexts, values);
      }
      server.kill();
    }
    values.put(GrowthMeasure.DISK, new TemporaryFolder(folder.resolve("data")).bytes() / MB);
    if (sizes.restarts()) {
      try (var server = GrowthServer.start(folder)) {
        values.put(GrowthMeasure.START_AFTER_KILL, server.startSeconds());
      }
    }
    return new Grown(size, values);
  }

  /// Writes the data, unless an earlier run has.
  static List<ContextId> write(GrowthKind growthKind, long size, Path folder)
      throws IOException, InterruptedException {
    var samples = folder.resolve(SAMPLES);
    if (Files.exists(samples)) {
      return Files.readAllLines(samples).stream().map(ContextId::new).toList();
    }
    try (var log = ParleyAppender.open(folder.resolve("data"), InstantSource.system())) {
      var contexts = new GrowthData(log).write(growthKind, size);
      Files.write(samples, contexts.stream().map(ContextId::toString).toList());
      return contexts;
    }
  }

  private static void probe(
      GrowthServer server, List<ContextId> contexts, Map<GrowthMeasure, Double> values)
      throws IOException, InterruptedException {
    values.putAll(new GrowthProbe(server.port(), contexts).measure());
    values.put(GrowthMeasure.RESIDENT, server.residentBytes() / MB);
    values.put(GrowthMeasure.HEAP, server.heapBytes() / MB);
  }

  private static void withOpenStreams(
      GrowthServer server, List<ContextId> contexts, Map<GrowthMeasure, Double> values)
      throws IOException, InterruptedException {
    var begin = System.nanoTime();
    try (var _ = OpenStreamGroup.open(server.port(), contexts)) {
      values.put(GrowthMeasure.OPEN_STREAMS, (System.nanoTime() - begin) / 1e9);
      probe(server, contexts, values);
    }
  }

  private void report(BenchmarkReport benchmarkReport, List<Grown> grown)
      throws IOException, InterruptedException {
    var head = new ArrayList<>(List.of(growthKind.title()));
    grown.forEach(one -> head.add("%,d".formatted(one.size())));
    if (grown.size() > 1) {
      head.addAll(List.of("curve", "exponent"));
    }
    var reportTable = new ReportTable(head.toArray(String[]::new));
    var worse = new ArrayList<String>();
    for (var measure : GrowthMeasure.values()) {
      var curve = curve(grown, measure);
      if (!curve.points().isEmpty()) {
        reportTable.row(row(measure, curve, grown));
        if (curve.shape() == GrowthCurve.Shape.WORSE) {
          worse.add(measure.title() + " (exponent " + shown(curve.exponent()) + ")");
        }
      }
    }
    benchmarkReport.table(reportTable);
    benchmarkReport.note(
        "Worse than linear: " + (worse.isEmpty() ? "none" : String.join("; ", worse)));
    perUnit(benchmarkReport, grown.getLast());
    limits(benchmarkReport);
    chart(benchmarkReport, grown, "time", "ms", List.of("s", "ms"));
    chart(benchmarkReport, grown, "size", "MB", List.of("MB"));
    judge(benchmarkReport, grown);
    benchmarkReport.note("");
  }

  private void chart(
      BenchmarkReport benchmarkReport,
      List<Grown> grown,
      String name,
      String unit,
      List<String> units) {
    var lines = new ChartLines();
    for (var measure : GrowthMeasure.values()) {
      if (units.contains(measure.unit())) {
        var factor = measure.unit().equals("s") ? 1_000 : 1;
        for (var point : curve(grown, measure).points()) {
          lines.add(measure.title(), point.size(), factor * point.value());
        }
      }
    }
    benchmarkReport.chart(
        lines.chart(name() + "-" + name, growthKind.title(), growthKind.unit(), unit));
  }

  /// What a client could not have written, and therefore the log has.
  private void limits(BenchmarkReport benchmarkReport) throws IOException {
    switch (growthKind) {
      case MESSAGE ->
          benchmarkReport.note(
              "Written by the log. The API refuses a message of 10 MB: " + refusal());
      case TOOL_RESULT ->
          benchmarkReport.note(
              "Written by the log. Agents truncate the result of a tool to 64 KiB.");
      case TASKS ->
          benchmarkReport.note(
              "Written by the log. Agents start at most 200 sub-agents for a root task"
                  + " (limits.maxSubtasks).");
      case CONTEXTS ->
          benchmarkReport.note(
              "Search is not measured: the API has none. The page searches the titles that it has"
                  + " loaded.");
      case EVENTS, FORKS, STREAMS -> {}
    }
  }

  private static GrowthCurve curve(List<Grown> grown, GrowthMeasure measure) {
    return new GrowthCurve(
        grown.stream()
            .filter(one -> one.values().containsKey(measure))
            .map(one -> new GrowthCurve.Point(one.size(), one.value(measure)))
            .toList());
  }

  private static String[] row(GrowthMeasure measure, GrowthCurve curve, List<Grown> grown) {
    var row = new ArrayList<>(List.of(measure.title() + ", " + measure.unit()));
    for (var one : grown) {
      var value = one.values().get(measure);
      row.add(value == null ? "" : shown(value));
    }
    if (grown.size() > 1) {
      row.add(curve.shape().text());
      row.add(String.format(Locale.ROOT, "%.2f", curve.exponent()));
    }
    return row.toArray(String[]::new);
  }

  private void perUnit(BenchmarkReport benchmarkReport, Grown largest) {
    benchmarkReport.note(
        "At %,d %s: %s bytes on disk and %s bytes of heap for each, everything included."
            .formatted(
                largest.size(),
                growthKind.unit(),
                shown(largest.value(GrowthMeasure.DISK) * MB / largest.size()),
                shown(largest.value(GrowthMeasure.HEAP) * MB / largest.size())));
  }

  /// The answer of the server to a message that is too long for its API.
  private static String refusal() throws IOException {
    try (var temporaryFolder = TemporaryFolder.make();
        var server = GrowthServer.start(temporaryFolder.path());
        var httpConnection = new HttpConnection(server.port())) {
      httpConnection.post("/api/messages", "{\"content\":\"" + REFUSED_TEXT + "\"}");
      return "it did not";
    } catch (IOException refused) {
      return String.valueOf(refused.getMessage());
    }
  }

  /// The goal for 100,000 contexts: about the start and the memory of a server with one context,
  /// which is as good as empty.
  private void judge(BenchmarkReport benchmarkReport, List<Grown> grown)
      throws IOException, InterruptedException {
    for (var one : grown) {
      if (growthKind == GrowthKind.CONTEXTS && one.size() == GOAL_CONTEXTS) {
        var empty = measure(1);
        for (var measure : GOALS) {
          benchmarkReport.atMost(
              "100,000 contexts against an empty server: " + measure.title(),
              GOAL_RATIO,
              one.value(measure) / empty.value(measure),
              " x");
        }
      }
    }
  }
}
