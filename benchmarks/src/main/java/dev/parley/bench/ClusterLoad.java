package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Tasks in many contexts over one and more servers of a cluster, and over a single server on SQLite.
final class ClusterLoad {

  private static final int CONTEXTS_MAX = 100;
  private static final String ONE = "1 server";
  private static final String SHORT = "say hello";
  private static final String LONG = "count to 1000";

  private final RunLength runLength;
  private final ClusterServers servers;
  private final int contexts;
  private final Map<String, Rates> rates = new LinkedHashMap<>();

  /// Of each turn: short tasks per second, durable events per second of long answers, and how many
  /// processors the standby servers used meanwhile.
  private record Rates(List<Double> tasks, List<Double> events, List<Double> standby) {
    Rates() {
      this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }
  }

  ClusterLoad(RunLength runLength, ClusterServers servers) {
    this.runLength = runLength;
    this.servers = servers;
    contexts = Math.min(CONTEXTS_MAX, Collections.max(runLength.taskContexts()));
  }

  void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    try (var temporaryFolder = TemporaryFolder.make();
        var single = BenchmarkServer.start(temporaryFolder, "single", List.of())) {
      var alone = List.of(single.port());
      warmUp(alone);
      for (var turn = 0; turn < (runLength.turns() + 1) / 2; turn++) {
        measure("1 server on SQLite", alone, List.of());
        for (var count = 1; count <= runLength.servers(); count++) {
          servers.resize(count);
          warmUp(servers.ports());
          measure(count == 1 ? ONE : count + " servers", servers.ports(), servers.standby());
        }
      }
    }
    print(benchmarkReport);
  }

  private void warmUp(List<Integer> ports) throws IOException, InterruptedException {
    for (var request : List.of(SHORT, LONG)) {
      new TaskLoad(ports, contexts, request).run(runLength.warmUp());
    }
  }

  private void measure(String name, List<Integer> ports, List<BenchmarkServer> standby)
      throws IOException, InterruptedException {
    var all = rates.computeIfAbsent(name, _ -> new Rates());
    var begin = System.nanoTime();
    var before = cpuSeconds(standby);
    all.tasks().add(new TaskLoad(ports, contexts, SHORT).run(runLength.taskTime()).tasks());
    all.events().add(new TaskLoad(ports, contexts, LONG).run(runLength.taskTime()).events());
    all.standby().add((cpuSeconds(standby) - before) / ((System.nanoTime() - begin) / 1e9));
  }

  private static double cpuSeconds(List<BenchmarkServer> servers) {
    return servers.stream()
        .mapToDouble(server -> MachineInfo.cpuSeconds(server.process().pid()))
        .sum();
  }

  private void print(BenchmarkReport benchmarkReport) {
    var reportTable =
        new ReportTable(
            AppendComparison.counted(contexts),
            "short tasks/s",
            "of 1 server",
            "events/s of long answers",
            "of 1 server",
            "processors of the standby servers");
    var one = rates.getOrDefault(ONE, new Rates());
    rates.forEach(
        (name, own) -> {
          var tasks = Median.of(own.tasks());
          var events = Median.of(own.events());
          reportTable.row(
              name,
              shown(tasks),
              times(tasks / Median.of(one.tasks())),
              shown(events),
              times(events / Median.of(one.events())),
              shown(Median.of(own.standby())));
        });
    benchmarkReport.table(reportTable);
    benchmarkReport.note(
        "Only the active server writes: more servers hold more streams and take over from each"
            + " other, but they do not add write throughput. On one machine they share its"
            + " processors, too.");
    benchmarkReport.note("");
  }
}
