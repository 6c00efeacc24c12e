package dev.parley.bench;

import static dev.parley.bench.Report.shown;
import static dev.parley.bench.Report.times;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;

/// Measures complete tasks, from the message to the answer, on the real program with the offline
/// model.
final class TasksBenchmark implements Benchmark {

  /// A field of a message that selects an agent, so that no supervisor is used.
  static final String NAMED = ",\"agentId\":\"agent-code\"";

  private static final int WARM_UP = 20;
  private static final String SHORT = "say hello";
  private static final String LONG = "count to 1000";

  private final Pace pace;

  TasksBenchmark(Pace pace) {
    this.pace = pace;
  }

  @Override
  public String name() {
    return "tasks";
  }

  @Override
  public void run(Report report) throws IOException, InterruptedException {
    report.title("Tasks from message to answer, over HTTP, with the offline model");
    try (var folder = Folder.make();
        var server = server(folder)) {
      var port = port(server);
      rates(report, port);
      costs(report, port);
    }
    try (var folder = Folder.make()) {
      var found = new Recovery(folder, pace.openTasks()).measure();
      report.table(
          new Table("%,d open tasks, killed".formatted(pace.openTasks()), "s")
              .row("start to 'Parley is ready' (with part of the recovery)", shown(found.ready()))
              .row("from there until all have advanced or wait again", shown(found.advanced())));
      report.atMost("recovery of open tasks", 2, found.advanced(), " s");
    }
  }

  /// The real program, with a limit that lets all tasks run at once.
  static Child server(Folder folder) throws IOException {
    var config = folder.path().resolve("parley.yaml");
    Files.writeString(config, "limits: {maxConcurrentTasks: 2000, taskTimeout: 1h}\n");
    return Child.server(
        dev.parley.app.Main.class,
        "serve",
        "--port",
        "0",
        "--data",
        folder.path().resolve("data").toString(),
        "--config",
        config.toString());
  }

  static int port(Child server) throws IOException {
    return URI.create(server.await("Parley is ready: ")).getPort();
  }

  private void rates(Report report, int port) throws IOException, InterruptedException {
    new TaskLoad(port, pace.taskContexts().getFirst(), SHORT).run(pace.warmUp());
    var table =
        new Table(
            "contexts at once",
            "short tasks/s",
            "their events/s",
            "events/s of long answers",
            "first event p50 ms",
            "p99",
            "first word p50 ms",
            "p99");
    var starts = 0.0;
    var events = 0.0;
    for (var contexts : pace.taskContexts()) {
      var brief = new TaskLoad(port, contexts, SHORT).run(pace.taskTime());
      var streaming = new TaskLoad(port, contexts, LONG).run(pace.taskTime());
      starts = Math.max(starts, brief.tasks());
      events = Math.max(events, streaming.events());
      table.row(
          "%,d".formatted(contexts),
          shown(brief.tasks()),
          shown(brief.events()),
          shown(streaming.events()),
          shown(brief.firstEvent().millis(0.5)),
          shown(brief.firstEvent().millis(0.99)),
          shown(brief.firstDelta().millis(0.5)),
          shown(brief.firstDelta().millis(0.99)));
    }
    report.note(
        "Times are of one message after the other in one more context, while short tasks run.");
    report.note("");
    report.table(table);
    report.atLeast("task starts", 500, starts, "/s");
    report.atLeast("durable events end to end", 25_000, events, "/s");
    report.note("");
  }

  private void costs(Report report, int port) throws IOException {
    var plain = millis(port, SHORT, NAMED);
    var tool = millis(port, "calculate 1+1", NAMED);
    var supervised = millis(port, SHORT, "");
    report.table(
        new Table("one task at a time, p50", "ms", "beside the first")
            .row("an agent that answers", shown(plain), times(1))
            .row("one tool call and a second turn", shown(tool), times(tool / plain))
            .row(
                "a supervisor that chooses the agent",
                shown(supervised),
                times(supervised / plain)));
    report.note("A tool call with its turn takes " + shown(tool - plain) + " ms more.");
    report.note("");
  }

  /// The median time of a task from its message to its end, as a reader of its stream sees it.
  private double millis(int port, String request, String more) throws IOException {
    var took = new Histogram();
    try (var talk = new Talk(port, more.isEmpty() ? "" : "task-complete,task-created")) {
      for (var i = 0; i < WARM_UP + pace.posts(); i++) {
        if (i == WARM_UP) {
          took.clear();
        }
        var begin = System.nanoTime();
        talk.say(request, more);
        talk.await("task-complete");
        if (more.isEmpty()) {
          // The first event was that of the sub-agent.
          talk.await("task-complete");
        }
        took.add(System.nanoTime() - begin);
      }
    }
    return took.millis(0.5);
  }
}
