package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Measures complete tasks, from the message to the answer, on the real program with the offline
/// model.
final class TasksBenchmark implements Benchmark {

  /// A field of a message that selects an agent, so that no supervisor is used.
  static final String NAMED = ",\"agentId\":\"agent-code\"";

  private static final int WARM_UP_TURNS = 2;
  private static final int TURNS = 5;
  private static final int CONTEXTS_MAX = 500;
  private static final double TASKS_PER_SECOND = 3_000;
  private static final double LONG_RATIO = 0.95;
  private static final double TOKEN_MILLIS = 300;
  private static final double SUPERVISED_RATIO = 1.5;
  private static final double TOOL_MILLIS = 3;
  private static final int MANY_TASKS = 1_000;
  private static final double RECOVERED_SECONDS = 2;
  private static final double MANY_RECOVERED_SECONDS = 6;
  private static final String SHORT = "say hello";
  private static final String LONG = "count to 1000";

  private final RunLength runLength;

  TasksBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "tasks";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("Tasks from message to answer, over HTTP, with the offline model");
    try (var temporaryFolder = TemporaryFolder.make();
        var server = server(temporaryFolder)) {
      var port = port(server);
      rates(benchmarkReport, port);
      costs(benchmarkReport, port);
    }
    for (var tasks : runLength.openTasks()) {
      recovery(benchmarkReport, tasks);
    }
  }

  private static void recovery(BenchmarkReport benchmarkReport, int tasks)
      throws IOException, InterruptedException {
    try (var temporaryFolder = TemporaryFolder.make()) {
      var result = new RecoveryBenchmark(temporaryFolder, tasks).measure();
      var requests = result.requests();
      benchmarkReport.table(
          new ReportTable(
                  "%,d open tasks after a kill, from the start of the process".formatted(tasks), "")
              .row("'Parley is ready', s", shown(result.ready()))
              .row("all have continued or wait again, s", shown(result.advanced()))
              .row(
                  "tasks of another client from the ready line to there",
                  "%,d".formatted(requests.count()))
              .row(
                  "their time from creating a context to the answer, p50 ms",
                  shown(requests.millis(0.5)))
              .row("longest, ms", shown(requests.millis(1))));
      benchmarkReport.atMost(
          "%,d open tasks after a kill".formatted(tasks),
          tasks > MANY_TASKS ? MANY_RECOVERED_SECONDS : RECOVERED_SECONDS,
          result.advanced(),
          " s");
    }
  }

  /// The real program, with a limit that lets all tasks run at once.
  static BenchmarkProcess server(TemporaryFolder temporaryFolder) throws IOException {
    var config = temporaryFolder.path().resolve("parley.yaml");
    Files.writeString(config, "limits: {maxConcurrentTasks: 2000, taskTimeout: 1h}\n");
    return BenchmarkProcess.server(
        dev.parley.app.Main.class,
        "serve",
        "--port",
        "0",
        "--data",
        temporaryFolder.path().resolve("data").toString(),
        "--config",
        config.toString());
  }

  static int port(BenchmarkProcess server) throws IOException {
    return URI.create(server.await("Parley is ready: ")).getPort();
  }

  private void rates(BenchmarkReport benchmarkReport, int port)
      throws IOException, InterruptedException {
    new TaskLoad(port, runLength.taskContexts().getFirst(), SHORT).run(runLength.warmUp());
    var reportTable =
        new ReportTable(
            "contexts at once",
            "short tasks/s",
            "their events/s",
            "events/s of long answers",
            "first event p50 ms",
            "p99",
            "first word p50 ms",
            "p99");
    var results = new LinkedHashMap<Integer, ContextsResult>();
    var chart = new ChartLines();
    for (var contexts : runLength.taskContexts()) {
      var brief = new TaskLoad(port, contexts, SHORT).run(runLength.taskTime());
      var streaming = new TaskLoad(port, contexts, LONG).run(runLength.taskTime());
      results.put(contexts, new ContextsResult(brief, streaming));
      chart.add("short tasks/s", contexts, brief.tasks());
      chart.add("durable events/s of long answers", contexts, streaming.events());
      reportTable.row(
          "%,d".formatted(contexts),
          shown(brief.tasks()),
          shown(brief.events()),
          shown(streaming.events()),
          shown(brief.firstEvent().millis(0.5)),
          shown(brief.firstEvent().millis(0.99)),
          shown(brief.firstDelta().millis(0.5)),
          shown(brief.firstDelta().millis(0.99)));
    }
    benchmarkReport.note(
        "Times are of one message after the other in one more context, while short tasks run.");
    benchmarkReport.note("");
    benchmarkReport.table(reportTable);
    benchmarkReport.chart(chart.chart("tasks", "Tasks in many contexts", "contexts", "per second"));
    judge(benchmarkReport, results);
    benchmarkReport.note("");
  }

  /// Short tasks and long answers in the same number of contexts.
  private record ContextsResult(TaskLoad.TaskLoadResult brief, TaskLoad.TaskLoadResult streaming) {}

  private static void judge(BenchmarkReport benchmarkReport, Map<Integer, ContextsResult> results) {
    var many = results.get(CONTEXTS_MAX);
    var some = results.get(100);
    if (many == null || some == null) {
      return;
    }
    benchmarkReport.atLeast(
        "short tasks at 500 contexts", TASKS_PER_SECOND, many.brief().tasks(), "/s");
    benchmarkReport.atLeast(
        "durable events of long answers, 500 contexts against 100",
        LONG_RATIO,
        many.streaming().events() / some.streaming().events(),
        " x");
    benchmarkReport.atMost(
        "p99 of the first token while short tasks run in 500 contexts",
        TOKEN_MILLIS,
        many.brief().firstDelta().millis(0.99),
        " ms");
    benchmarkReport.atMost(
        "p99 of the first token while long answers run in 500 contexts",
        TOKEN_MILLIS,
        many.streaming().firstDelta().millis(0.99),
        " ms");
  }

  /// Measures three kinds of task in turns. The first turns warm up: the compiler needs some hundred
  /// tasks of each kind.
  private void costs(BenchmarkReport benchmarkReport, int port) throws IOException {
    var plains = new ArrayList<Double>();
    var tools = new ArrayList<Double>();
    var supervised = new ArrayList<Double>();
    for (var turn = 0; turn < WARM_UP_TURNS + TURNS; turn++) {
      plains.add(millis(port, SHORT, NAMED));
      tools.add(millis(port, "calculate 1+1", NAMED));
      supervised.add(millis(port, SHORT, ""));
    }
    var plain = median(plains);
    var tool = median(tools);
    var chosen = median(supervised);
    benchmarkReport.table(
        new ReportTable("one task at a time, p50", "ms", "beside the first")
            .row("an agent that answers", shown(plain), times(1))
            .row("one tool call and a second turn", shown(tool), times(tool / plain))
            .row("a supervisor that chooses the agent", shown(chosen), times(chosen / plain)));
    benchmarkReport.atMost(
        "a tool call and its second turn, on top of the answer", TOOL_MILLIS, tool - plain, " ms");
    benchmarkReport.atMost(
        "a supervised task against one of a named agent", SUPERVISED_RATIO, chosen / plain, " x");
    benchmarkReport.note("");
  }

  private static double median(List<Double> turns) {
    var sorted = turns.subList(WARM_UP_TURNS, turns.size()).stream().sorted().toList();
    return sorted.get(sorted.size() / 2);
  }

  /// The median time of a task from its message to its end, as a reader of its stream sees it.
  private double millis(int port, String request, String more) throws IOException {
    var took = new LatencyHistogram();
    try (var benchmarkChat =
        new BenchmarkChat(port, more.isEmpty() ? "" : "task-complete,task-created")) {
      for (var i = 0; i < runLength.posts(); i++) {
        var begin = System.nanoTime();
        benchmarkChat.send(request, more);
        benchmarkChat.await("task-complete");
        if (more.isEmpty()) {
          // The first event was that of the sub-agent.
          benchmarkChat.await("task-complete");
        }
        took.add(System.nanoTime() - begin);
      }
    }
    return took.millis(0.5);
  }
}
