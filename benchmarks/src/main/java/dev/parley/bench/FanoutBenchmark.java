package dev.parley.bench;

import static dev.parley.bench.Report.shown;
import static dev.parley.bench.Report.times;

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

  private final Pace pace;

  /// A server to compare: how to start it, and its protocol.
  private record Contender(String name, String wire, Starter starter) {}

  private interface Starter {
    Child start(Folder folder) throws IOException;
  }

  FanoutBenchmark(Pace pace) {
    this.pace = pace;
  }

  @Override
  public String name() {
    return "fanout";
  }

  @Override
  public void run(Report report) throws IOException, InterruptedException {
    report.title("Fan-out: events of one context to many readers, from append to receipt");
    var contenders = new ArrayList<Contender>();
    contenders.add(
        new Contender(
            "Parley, SSE",
            "sse",
            folder -> Child.server(FanoutServer.class, folder.path().toString())));
    if (pace.others()) {
      SocketIo.install(SocketIo.Kind.ROOM, report)
          .ifPresent(
              room -> contenders.add(new Contender("Socket.IO", "socket.io", _ -> room.start())));
    }
    for (var readers : pace.readers()) {
      if (readers + FILES_SPARE > filesMax()) {
        report.note(
            readers + " readers left out: only " + filesMax() + " files may be open (ulimit -n)");
        continue;
      }
      compare(report, readers, contenders);
    }
  }

  private void compare(Report report, int readers, List<Contender> contenders)
      throws IOException, InterruptedException {
    var turns = new ArrayList<List<Turn>>();
    contenders.forEach(_ -> turns.add(new ArrayList<>()));
    for (var turn = 0; turn < (pace.turns() + 1) / 2; turn++) {
      for (var i = 0; i < contenders.size(); i++) {
        turns.get(i).add(turn(contenders.get(i), readers));
      }
    }
    var found = turns.stream().map(Turn::middle).toList();
    print(report, readers, contenders, found);
    judge(report, readers, found);
  }

  private Turn turn(Contender contender, int readers) throws IOException {
    try (var folder = Folder.make();
        var server = contender.starter().start(folder)) {
      var ready = server.await("ready ").split(" ", -1);
      var before = Machine.residentBytes(server.pid());
      try (var crowd =
          Child.java(
              List.of("-XX:+UseSerialGC"),
              Readers.class,
              contender.wire(),
              ready[0],
              ready[1],
              ready[2],
              Integer.toString(readers),
              Long.toString(pace.fanout().toMillis()))) {
        var heap = Double.parseDouble(crowd.await("open "));
        var resident = (double) (Machine.residentBytes(server.pid()) - before) / readers;
        return new Turn(rate(server, crowd), rate(server, crowd), heap, resident);
      }
    }
  }

  private static Turn.Rate rate(Child server, Child crowd) throws IOException {
    var before = Machine.cpuSeconds(server.pid());
    var line = crowd.await("result ");
    return Turn.Rate.parse(line, Machine.cpuSeconds(server.pid()) - before);
  }

  private static void print(
      Report report, int readers, List<Contender> contenders, List<Turn> found) {
    var table =
        new Table(
            readers == 1 ? "1 reader" : "%,d readers".formatted(readers),
            "deliveries/s",
            "Parley is",
            "p50 ms",
            "p99 ms",
            "CPU us",
            "KB heap",
            "KB RSS");
    for (var i = 0; i < found.size(); i++) {
      var turn = found.get(i);
      var memory = List.of(shown(turn.heap() / 1024), shown(turn.resident() / 1024));
      row(
          table,
          contenders.get(i).name() + ", one event a write",
          turn.single(),
          found.getFirst().single(),
          memory);
      row(
          table,
          contenders.get(i).name() + ", events may share one",
          turn.shared(),
          found.getFirst().shared(),
          List.of("", ""));
    }
    report.table(table);
  }

  private static void row(
      Table table, String name, Turn.Rate rate, Turn.Rate ours, List<String> memory) {
    table.row(
        name,
        shown(rate.deliveries()),
        times(ours.deliveries() / rate.deliveries()),
        shown(rate.p50()),
        shown(rate.p99()),
        shown(rate.cpu()),
        memory.getFirst(),
        memory.getLast());
  }

  private static void judge(Report report, int readers, List<Turn> found) {
    if (readers < 5_000) {
      return;
    }
    var ours = found.getFirst();
    report.atMost("heap of an idle stream", HEAP_KB, ours.heap() / 1024, " KB");
    if (found.size() > 1) {
      var other = found.getLast();
      var single = ours.single().deliveries() / other.single().deliveries();
      var shared = ours.shared().deliveries() / other.shared().deliveries();
      report.atLeast("deliveries against Socket.IO, one event a write", 2, single, " x");
      report.atLeast("deliveries against Socket.IO, events may share a write", 12, shared, " x");
    }
    report.note("");
  }

  private static long filesMax() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
