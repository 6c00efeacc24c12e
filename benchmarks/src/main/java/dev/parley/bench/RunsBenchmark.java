package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import dev.parley.bench.StreamedRuns.StreamingServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// A run that streams 20 tokens without a model, compared with LangGraph's server on Node.
///
/// That server keeps everything in memory; Parley writes every token to the disk before it sends
/// it. The same client measures both: one run at a time, then ten at once.
final class RunsBenchmark implements Benchmark {

  private static final int AT_ONCE = 10;

  private final RunLength runLength;

  /// The results of one server.
  private record RunResult(
      String name, double firstEvent, double firstToken, double whole, double alone, double many) {}

  RunsBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "runs";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("A run that streams 20 tokens: POST, then its events as the response");
    var results = new ArrayList<RunResult>();
    try (var temporaryFolder = TemporaryFolder.make();
        var server = TasksBenchmark.server(temporaryFolder)) {
      var port = TasksBenchmark.port(server);
      results.add(
          measure(
              "Parley, durable",
              new StreamingServer(
                  port,
                  "/api/contexts",
                  "contextId",
                  "/api/contexts/ID/messages",
                  "{\"content\":\"count to 20\"" + TasksBenchmark.NAMED + "}",
                  "stream-open",
                  "content-delta")));
    }
    if (runLength.withNode()) {
      var peer = NodePeer.install(NodePeer.NodeProgram.LANGGRAPH, benchmarkReport);
      if (peer.isPresent()) {
        try (var server = peer.get().start()) {
          results.add(langGraph(Integer.parseInt(server.await("ready "))));
        }
      }
    }
    print(benchmarkReport, results);
  }

  private RunResult langGraph(int port) throws IOException, InterruptedException {
    return measure(
        "LangGraph's server, in memory",
        new StreamingServer(
            port,
            "/threads",
            "thread_id",
            "/threads/ID/runs/stream",
            "{\"assistant_id\":\"agent\",\"input\":{\"messages\":[\"hi\"]},\"stream_mode\":[\"custom\"]}",
            "",
            "custom"));
  }

  private RunResult measure(String name, StreamingServer server)
      throws IOException, InterruptedException {
    var runs = new StreamedRuns(server);
    runs.run(1, runLength.warmUp());
    runs.clear();
    var alone = runs.run(1, runLength.taskTime());
    var firstEvent = runs.firstEvent().millis(0.5);
    var firstToken = runs.firstToken().millis(0.5);
    var whole = runs.whole().millis(0.5);
    var many = runs.run(AT_ONCE, runLength.taskTime());
    return new RunResult(name, firstEvent, firstToken, whole, alone, many);
  }

  private static void print(BenchmarkReport benchmarkReport, List<RunResult> results) {
    var reportTable =
        new ReportTable(
            "20 tokens a run",
            "first event p50 ms",
            "first token",
            "whole run",
            "runs/s alone",
            AT_ONCE + " at once",
            "Parley is");
    var ours = results.getFirst();
    for (var result : results) {
      reportTable.row(
          result.name(),
          shown(result.firstEvent()),
          shown(result.firstToken()),
          shown(result.whole()),
          shown(result.alone()),
          shown(result.many()),
          times(ours.many() / result.many()));
    }
    benchmarkReport.table(reportTable);
  }
}
