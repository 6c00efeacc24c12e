package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;

import dev.parley.bench.TaskFollower.Progress;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/// Ends the active server while a task runs, and measures when a standby server continues the task.
final class TakeoverBenchmark {

  private static final double KILLED_SECONDS = 10;
  private static final double STOPPED_SECONDS = 1;
  private static final int STOP_SECONDS_MAX = 30;
  private static final Duration SEND_AFTER = Duration.ofMillis(50);
  private static final Duration RETRY = Duration.ofMillis(10);

  private static final Phase TOGETHER =
      new Phase("together", Takeover::signal, Takeover::continued);
  private static final Phase PAUSE =
      new Phase("pause of the task", Takeover::lastText, Takeover::continued);
  private static final Phase CONTINUED =
      new Phase("until the task continues", Takeover::opened, Takeover::continued);
  private static final Phase ANSWERED =
      new Phase("a message sent at the signal has text", Takeover::signal, Takeover::answered);

  private static final List<Phase> KILL_PHASES =
      List.of(
          new Phase("until the standby server notices", Takeover::signal, Takeover::noticed),
          new Phase("until it has opened the log", Takeover::noticed, Takeover::opened),
          CONTINUED,
          TOGETHER,
          ANSWERED);

  private static final List<Phase> STOP_PHASES =
      List.of(
          new Phase("while the old server runs the task", Takeover::signal, Takeover::lastText),
          new Phase("until another has opened the log", Takeover::lastText, Takeover::opened),
          CONTINUED,
          TOGETHER,
          PAUSE,
          ANSWERED);

  private final int rounds;
  private final ClusterServers servers;
  private final BenchmarkReport benchmarkReport;

  /// A takeover: the signal, the last text from the server that ended, two log lines of the standby
  /// server, the first event of the continued task, and the first text of the answer to a message
  /// that was sent just after the signal.
  private record Takeover(
      Instant signal,
      Instant lastText,
      Instant noticed,
      Instant opened,
      Instant continued,
      Instant answered) {}

  /// A part of a takeover.
  private record Phase(
      String name, Function<Takeover, Instant> begin, Function<Takeover, Instant> end) {

    List<Double> seconds(List<Takeover> takeovers) {
      return takeovers.stream()
          .map(one -> Duration.between(begin.apply(one), end.apply(one)).toNanos() / 1e9)
          // The last text may have arrived just before the signal.
          .map(seconds -> Math.max(0, seconds))
          .toList();
    }
  }

  /// Ends the process of a server.
  private interface Ending {
    void end(BenchmarkProcess process) throws IOException, InterruptedException;
  }

  TakeoverBenchmark(int rounds, ClusterServers servers, BenchmarkReport benchmarkReport) {
    this.rounds = rounds;
    this.servers = servers;
    this.benchmarkReport = benchmarkReport;
  }

  void run() throws IOException, InterruptedException {
    var kills = new ArrayList<Takeover>();
    var stops = new ArrayList<Takeover>();
    for (var round = 0; round < rounds; round++) {
      kills.add(takeover(BenchmarkProcess::kill));
      stops.add(takeover(process -> process.stop(STOP_SECONDS_MAX)));
    }
    print("the active server is killed", KILL_PHASES, kills);
    print("the active server stops in order", STOP_PHASES, stops);
    judge("a task continues after a kill", KILLED_SECONDS, TOGETHER, kills);
    judge("a task continues after an orderly stop", STOPPED_SECONDS, TOGETHER, stops);
  }

  private Takeover takeover(Ending ending) throws IOException, InterruptedException {
    servers.resize(2);
    var port = servers.last().port();
    try (var chat = new BenchmarkChat(servers.active().port(), "content-delta");
        var other = new BenchmarkChat(servers.active().port(), "content-delta");
        var follower = new TaskFollower(port, chat.path());
        var answer = new TaskFollower(port, other.path())) {
      chat.send("count slowly to 400", TasksBenchmark.NAMED);
      follower.await(Progress.TEXT, Instant.EPOCH);
      var signal = Instant.now();
      var sender = Thread.ofVirtual().start(() -> sendSoon(port, other.path()));
      var active = servers.removeActive();
      ending.end(active.process());
      var continued = follower.await(Progress.CONTINUED, signal);
      var answered = answer.await(Progress.TEXT, signal);
      sender.join();
      active.close();
      var standby = servers.active().process();
      var opened = standby.logged(" is active").orElse(continued);
      var noticed = standby.logged("takes over").orElse(opened);
      return new Takeover(
          signal, follower.lastTextBeforeContinued(), noticed, opened, continued, answered);
    }
  }

  /// Sends a message to a standby server, again if that loses its connection to the active one.
  private static void sendSoon(int port, String path) {
    LockSupport.parkNanos(SEND_AFTER.toNanos());
    var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS_MAX);
    while (System.nanoTime() < deadline) {
      try (var httpConnection = new HttpConnection(port)) {
        httpConnection.post(
            path + "/messages", "{\"content\":\"say hello\"" + TasksBenchmark.NAMED + "}");
        return;
      } catch (IOException disconnected) {
        LockSupport.parkNanos(RETRY.toNanos());
      }
    }
  }

  private void print(String title, List<Phase> phases, List<Takeover> takeovers) {
    var reportTable =
        new ReportTable("%s, %d times".formatted(title, rounds), "median s", "longest s");
    for (var phase : phases) {
      var seconds = phase.seconds(takeovers);
      reportTable.row(phase.name(), shown(Median.of(seconds)), shown(Collections.max(seconds)));
    }
    benchmarkReport.table(reportTable);
  }

  private void judge(String what, double wanted, Phase phase, List<Takeover> takeovers) {
    benchmarkReport.atMost(what, wanted, Collections.max(phase.seconds(takeovers)), " s");
  }
}
