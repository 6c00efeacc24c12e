package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import dev.parley.protocol.ContextId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/// Readers of a standby server compared with readers of the active one.
final class ClusterReaders {

  /// Messages per second: so few that none waits for another.
  static final int RATE = 20;

  private static final String ACCEPTED = "task-created";
  private static final int READERS_MAX = 100;
  private static final int LONG_ANSWER = 2_000;

  private final RunLength runLength;
  private final int active;
  private final int standby;

  ClusterReaders(RunLength runLength, ClusterServers servers) {
    this.runLength = runLength;
    this.active = servers.active().port();
    this.standby = servers.last().port();
  }

  /// Measures the time from a POST to its event on a stream of each server.
  void receipts(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    var reportTable =
        new ReportTable(
            "POST to receipt of its event, %d/s".formatted(RATE),
            "p50 ms",
            "p99 ms",
            "p50, reader on the active server is 1");
    for (var sender : List.of(active, standby)) {
      receipts(sender);
      var times = receipts(sender);
      for (var i = 0; i < times.size(); i++) {
        var name =
            "sent to the %s server, read from the %s one"
                .formatted(name(sender), i == 0 ? "active" : "standby");
        reportTable.row(
            name,
            shown(times.get(i).millis(0.5)),
            shown(times.get(i).millis(0.99)),
            times(times.get(i).millis(0.5) / times.getFirst().millis(0.5)));
      }
    }
    benchmarkReport.table(reportTable);
  }

  private String name(int port) {
    return port == active ? "active" : "standby";
  }

  /// The times of readers of both servers, which read the same context.
  private List<LatencyHistogram> receipts(int sender) throws IOException, InterruptedException {
    var count = runLength.posts();
    var sent = new AtomicLongArray(count);
    var times = new ArrayList<LatencyHistogram>();
    var threads = new ArrayList<Thread>();
    try (var chat = new BenchmarkChat(sender, "task-complete");
        var here = new EventLines(active, chat.path() + "/stream?kinds=" + ACCEPTED);
        var there = new EventLines(standby, chat.path() + "/stream?kinds=" + ACCEPTED)) {
      for (var stream : List.of(here, there)) {
        stream.await("stream-open");
        var latencies = new LatencyHistogram();
        times.add(latencies);
        threads.add(Thread.ofVirtual().start(() -> read(stream, sent, latencies)));
      }
      var pace = new Pace(RATE);
      for (var i = 0; i < count; i++) {
        sent.set(i, System.nanoTime());
        chat.send("say hello", TasksBenchmark.NAMED);
        pace.await();
      }
      for (var thread : threads) {
        thread.join();
      }
    }
    return times;
  }

  private static void read(EventLines stream, AtomicLongArray sent, LatencyHistogram latencies) {
    try {
      for (var i = 0; i < sent.length(); i++) {
        stream.await(ACCEPTED);
        latencies.add(System.nanoTime() - sent.get(i));
      }
    } catch (IOException ended) {
      throw new IllegalStateException(ended);
    }
  }

  /// Measures the deliveries per second to many readers, in turns.
  void fanout(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    var readers = Math.min(READERS_MAX, Collections.max(runLength.readers()));
    var here = new ArrayList<Double>();
    var there = new ArrayList<Double>();
    deliveries(active, readers);
    deliveries(standby, readers);
    for (var turn = 0; turn < runLength.turns(); turn++) {
      here.add(deliveries(active, readers));
      there.add(deliveries(standby, readers));
    }
    var own = Median.of(here);
    var other = Median.of(there);
    benchmarkReport.table(
        new ReportTable(
                "%,d readers of one long answer".formatted(readers), "deliveries/s", "ratio")
            .row("streams of the active server", shown(own), times(1))
            .row("streams of a standby server", shown(other), times(other / own)));
  }

  /// Deliveries per second while a task writes, until all readers have received all events.
  private double deliveries(int port, int readers) throws IOException, InterruptedException {
    try (var chat = new BenchmarkChat(active, "task-complete");
        var httpConnection = new HttpConnection(active)) {
      var context = new ContextId(chat.path().substring(chat.path().lastIndexOf('/') + 1));
      var before = head(httpConnection, chat.path());
      try (var streams = OpenStreamGroup.open(port, Collections.nCopies(readers, context))) {
        var begin = System.nanoTime();
        chat.send("count to " + LONG_ANSWER, TasksBenchmark.NAMED);
        chat.await("task-complete");
        var after = head(httpConnection, chat.path());
        streams.awaitReceived(readers * after);
        return readers * (after - before) / ((System.nanoTime() - begin) / 1e9);
      }
    }
  }

  private static long head(HttpConnection httpConnection, String path) throws IOException {
    var position = BenchmarkChat.field(httpConnection.get(path), "position");
    return Long.parseLong(position.split("\\.", 2)[0]);
  }
}
