package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Tokens of a command-line agent to a hundred Socket.IO clients, compared with a simple server on
/// Node.
///
/// When all clients listen, the same program prints the same lines for both servers, as fast as it
/// can. The time ends when the last client has the last token. Several agents run one after another
/// on a new server; the first is reported separately, because the server is not warm yet. The
/// contenders take turns; the result is the median.
final class RelayBenchmark implements Benchmark {

  private static final int READERS = 100;
  private static final int SHARE = 50;
  private static final int AGENTS = 4;
  private static final double FASTER = 5;

  private final RunLength runLength;

  RelayBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "relay";
  }

  /// Starts a server for a program, with its data in a folder.
  private interface Starter {
    BenchmarkProcess start(Path data, List<String> program) throws IOException;
  }

  /// One contender: how it is started, how its ready line begins, and its results.
  private record Contender(
      String name,
      Starter starter,
      String ready,
      List<Double> first,
      List<Double> rates,
      List<Double> sizes) {
    Contender(String name, String ready, Starter starter) {
      this(name, starter, ready, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Tokens of a command-line agent to " + readers() + " Socket.IO clients");
    var contenders = new ArrayList<Contender>();
    contenders.add(new Contender("Parley", "Parley is ready:", RelayBenchmark::parley));
    if (runLength.withNode()) {
      NodePeer.install(NodePeer.NodeProgram.RELAY, benchmarkReport)
          .ifPresent(
              node ->
                  contenders.add(
                      new Contender(
                          "Node, a row per token",
                          "ready",
                          (data, program) -> node.start(words(data, program)))));
    }
    for (var turn = 0; turn < runLength.turns(); turn++) {
      for (var contender : contenders) {
        turn(contender);
      }
    }
    show(benchmarkReport, contenders);
  }

  private void show(BenchmarkReport benchmarkReport, List<Contender> contenders) {
    var ours = contenders.getFirst();
    var reportTable =
        new ReportTable(
            "%,d tokens".formatted(tokens()),
            "tokens/s",
            "ratio",
            "first agent",
            "ratio",
            "bytes stored/token");
    for (var contender : contenders) {
      var rate = Median.of(contender.rates());
      reportTable.row(
          contender.name(),
          shown(rate),
          times(Median.of(ours.rates()) / rate),
          shown(Median.of(contender.first())),
          times(Median.of(ours.first()) / Median.of(contender.first())),
          shown(Median.of(contender.sizes())));
    }
    benchmarkReport.table(reportTable);
    if (contenders.size() > 1) {
      var theirs = contenders.getLast();
      benchmarkReport.atLeast(
          "tokens/s of an agent to " + readers() + " clients, against a row per token",
          FASTER,
          Median.of(ours.rates()) / Median.of(theirs.rates()),
          " x");
    }
  }

  private void turn(Contender contender) throws IOException {
    try (var temporaryFolder = TemporaryFolder.make()) {
      var data = Files.createDirectory(temporaryFolder.path().resolve("data"));
      var gate = temporaryFolder.path().resolve("gate");
      var script = temporaryFolder.path().resolve("program.sh");
      try (var source = RelayBenchmark.class.getResourceAsStream("relay-program.sh")) {
        if (source == null) {
          throw new IllegalStateException("relay-program.sh is missing");
        }
        Files.copy(source, script);
      }
      var program =
          List.of("/bin/sh", script.toString(), Integer.toString(tokens()), gate.toString());
      try (var server = contender.starter().start(data, program)) {
        var line = server.await(contender.ready());
        var rates = rates(port(line), gate);
        contender.first().add(rates.getFirst());
        contender.rates().add(Median.of(rates.subList(1, rates.size())));
      }
      contender.sizes().add((double) new TemporaryFolder(data).bytes() / tokens() / AGENTS);
    }
  }

  private List<Double> rates(int port, Path gate) throws IOException {
    try (var reading =
        BenchmarkProcess.java(
            List.of("-Xmx512m"),
            RelayReaders.class,
            Integer.toString(port),
            Integer.toString(readers()),
            Integer.toString(tokens()),
            gate.toString(),
            Integer.toString(AGENTS))) {
      return Stream.of(reading.await("result").split(" "))
          .map(seconds -> tokens() / Double.parseDouble(seconds))
          .toList();
    }
  }

  private static int port(String ready) {
    return Integer.parseInt(ready.substring(ready.lastIndexOf(':') + 1).strip());
  }

  private static BenchmarkProcess parley(Path data, List<String> program) throws IOException {
    var config = data.resolveSibling("parley.yaml");
    var words = program.stream().map(word -> "\"" + word + "\"").toList();
    Files.writeString(
        config,
        "agents: [{id: relay, type: cli, cli: claude, command: ["
            + String.join(", ", words)
            + "]}]\n");
    return BenchmarkProcess.server(
        dev.parley.app.Main.class,
        "serve",
        "--port",
        "0",
        "--data",
        data.toString(),
        "--config",
        config.toString());
  }

  private static String[] words(Path data, List<String> program) {
    var words = new ArrayList<>(List.of(data.toString()));
    words.addAll(program);
    return words.toArray(String[]::new);
  }

  private int readers() {
    return runLength.withNode() ? READERS : 5;
  }

  private int tokens() {
    return runLength.tokens() / SHARE;
  }
}
