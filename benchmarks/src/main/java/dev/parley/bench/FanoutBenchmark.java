package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Deliveries per second from one context to many readers, compared with a Socket.IO room if Node
/// is installed.
///
/// Server and readers run in separate processes. The contenders take turns; each turn starts a new
/// server, and the result is the median of the turns.
final class FanoutBenchmark implements Benchmark {

  private static final double HEAP_KB = 4;
  private static final double CPU_MICROS = 10;
  private static final double AGAINST_SOCKET_IO = 2;
  private static final int READERS_FOR_GOALS = 100;
  private static final int READERS_FOR_MEMORY = 1_000;

  private final RunLength runLength;

  /// A server to compare: how to start it, and its protocol.
  private record Contender(String name, String wire, Starter starter) {}

  private interface Starter {
    BenchmarkProcess start(TemporaryFolder temporaryFolder) throws IOException;
  }

  FanoutBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "fanout";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Fan-out: events of one context to many readers, from append to receipt");
    var contenders = new ArrayList<Contender>();
    contenders.add(
        new Contender(
            "Parley, SSE",
            "sse",
            temporaryFolder ->
                BenchmarkProcess.server(FanoutServer.class, temporaryFolder.path().toString())));
    if (runLength.withNode()) {
      NodePeer.install(NodePeer.NodeProgram.ROOM, benchmarkReport)
          .ifPresent(
              room -> contenders.add(new Contender("Socket.IO", "socket.io", _ -> room.start())));
    }
    var chart = new ChartLines();
    for (var readers : runLength.readers()) {
      if (!OpenFiles.enoughFor(readers)) {
        benchmarkReport.note(
            readers
                + " readers left out: only "
                + OpenFiles.max()
                + " files may be open (ulimit -n)");
        continue;
      }
      var found = compare(benchmarkReport, readers, contenders);
      for (var i = 0; i < found.size(); i++) {
        var name = contenders.get(i).name();
        chart.add(name + ", one event a write", readers, found.get(i).single().deliveries());
        chart.add(name + ", events may share one", readers, found.get(i).shared().deliveries());
      }
    }
    benchmarkReport.chart(
        chart.chart("fanout", "Events of one context to many readers", "readers", "deliveries/s"));
  }

  private List<FanoutResult> compare(
      BenchmarkReport benchmarkReport, int readers, List<Contender> contenders)
      throws IOException, InterruptedException {
    var turns = new ArrayList<List<FanoutResult>>();
    contenders.forEach(_ -> turns.add(new ArrayList<>()));
    for (var turn = 0; turn < (runLength.turns() + 1) / 2; turn++) {
      for (var i = 0; i < contenders.size(); i++) {
        turns.get(i).add(turn(contenders.get(i), readers));
      }
    }
    var found = turns.stream().map(FanoutResult::median).toList();
    print(benchmarkReport, readers, contenders, found);
    judge(benchmarkReport, readers, found);
    return found;
  }

  private FanoutResult turn(Contender contender, int readers) throws IOException {
    try (var temporaryFolder = TemporaryFolder.make();
        var server = contender.starter().start(temporaryFolder)) {
      var ready = server.await("ready ").split(" ", -1);
      var before = MachineInfo.residentBytes(server.pid());
      try (var crowd =
          BenchmarkProcess.java(
              List.of("-XX:+UseSerialGC"),
              FanoutReaders.class,
              contender.wire(),
              ready[0],
              ready[1],
              ready[2],
              Integer.toString(readers),
              Long.toString(runLength.fanout().toMillis()))) {
        var heap = Double.parseDouble(crowd.await("open "));
        var resident = (double) (MachineInfo.residentBytes(server.pid()) - before) / readers;
        return new FanoutResult(rate(server, crowd), rate(server, crowd), heap, resident);
      }
    }
  }

  private static FanoutResult.Rate rate(BenchmarkProcess server, BenchmarkProcess crowd)
      throws IOException {
    var before = MachineInfo.cpuSeconds(server.pid());
    var line = crowd.await("result ");
    return FanoutResult.Rate.parse(line, MachineInfo.cpuSeconds(server.pid()) - before);
  }

  private static void print(
      BenchmarkReport benchmarkReport,
      int readers,
      List<Contender> contenders,
      List<FanoutResult> found) {
    var reportTable =
        new ReportTable(
            readers == 1 ? "1 reader" : "%,d readers".formatted(readers),
            "deliveries/s",
            "Parley is",
            "p50 ms",
            "p99 ms",
            "CPU us",
            "KB heap",
            "KB RSS");
    for (var i = 0; i < found.size(); i++) {
      var fanoutResult = found.get(i);
      var memory =
          List.of(shown(fanoutResult.heap() / 1024), shown(fanoutResult.resident() / 1024));
      row(
          reportTable,
          contenders.get(i).name() + ", one event a write",
          fanoutResult.single(),
          found.getFirst().single(),
          memory);
      row(
          reportTable,
          contenders.get(i).name() + ", events may share one",
          fanoutResult.shared(),
          found.getFirst().shared(),
          List.of("", ""));
    }
    benchmarkReport.table(reportTable);
  }

  private static void row(
      ReportTable reportTable,
      String name,
      FanoutResult.Rate rate,
      FanoutResult.Rate ours,
      List<String> memory) {
    reportTable.row(
        name,
        shown(rate.deliveries()),
        times(ours.deliveries() / rate.deliveries()),
        shown(rate.p50()),
        shown(rate.p99()),
        shown(rate.cpu()),
        memory.getFirst(),
        memory.getLast());
  }

  private static void judge(
      BenchmarkReport benchmarkReport, int readers, List<FanoutResult> found) {
    var ours = found.getFirst();
    var where = readers == 1 ? ", 1 reader" : ", %,d readers".formatted(readers);
    if (readers >= READERS_FOR_GOALS) {
      benchmarkReport.atMost(
          "processor time of a delivery" + where, CPU_MICROS, ours.single().cpu(), " us");
    }
    if (readers >= READERS_FOR_MEMORY) {
      benchmarkReport.atMost("heap of an idle stream" + where, HEAP_KB, ours.heap() / 1024, " KB");
    }
    if (found.size() > 1 && (readers == 1 || readers >= READERS_FOR_GOALS)) {
      var other = found.getLast();
      benchmarkReport.atLeast(
          "deliveries against Socket.IO, one event a write" + where,
          readers == 1 ? 1 : AGAINST_SOCKET_IO,
          ours.single().deliveries() / other.single().deliveries(),
          " x");
      if (readers >= READERS_FOR_MEMORY) {
        benchmarkReport.atLeast(
            "deliveries against Socket.IO, events may share a write" + where,
            12,
            ours.shared().deliveries() / other.shared().deliveries(),
            " x");
      }
    }
    benchmarkReport.note("");
  }
}
