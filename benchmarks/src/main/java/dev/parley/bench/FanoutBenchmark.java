package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/// Deliveries per second from one context to many readers, compared with a Socket.IO room if Node
/// is installed.
///
/// Server and readers run in separate processes. The contenders take turns; each turn starts a new
/// server, and the result is the median of the turns.
final class FanoutBenchmark implements Benchmark {

  private static final int FILES_SPARE = 500;
  private static final double HEAP_KB = 16;

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
      SocketIoPeer.install(SocketIoPeer.SocketIoPeerKind.ROOM, benchmarkReport)
          .ifPresent(
              room -> contenders.add(new Contender("Socket.IO", "socket.io", _ -> room.start())));
    }
    for (var readers : runLength.readers()) {
      if (readers + FILES_SPARE > filesMax()) {
        benchmarkReport.note(
            readers + " readers left out: only " + filesMax() + " files may be open (ulimit -n)");
        continue;
      }
      compare(benchmarkReport, readers, contenders);
    }
  }

  private void compare(BenchmarkReport benchmarkReport, int readers, List<Contender> contenders)
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
    if (readers < 5_000) {
      return;
    }
    var ours = found.getFirst();
    benchmarkReport.atMost("heap of an idle stream", HEAP_KB, ours.heap() / 1024, " KB");
    if (found.size() > 1) {
      var other = found.getLast();
      var single = ours.single().deliveries() / other.single().deliveries();
      var shared = ours.shared().deliveries() / other.shared().deliveries();
      benchmarkReport.atLeast("deliveries against Socket.IO, one event a write", 2, single, " x");
      benchmarkReport.atLeast(
          "deliveries against Socket.IO, events may share a write", 12, shared, " x");
    }
    benchmarkReport.note("");
  }

  private static long filesMax() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
