package dev.parley.bench;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;

/// Many contexts at once, each of which runs one task after another, over HTTP.
///
/// A task counts if it ends before the time is over.
final class TaskLoad {

  private static final Pattern APPENDED =
      Pattern.compile("(?m)^parley_events_appended_total (\\S+)$");

  private final List<Integer> ports;
  private final int contexts;
  private final String request;

  /// The results: tasks and durable events per second, and the times from a message in a separate
  /// context to its first event and to its first delta.
  record TaskLoadResult(
      double tasks, double events, LatencyHistogram firstEvent, LatencyHistogram firstDelta) {}

  TaskLoad(int port, int contexts, String request) {
    this(List.of(port), contexts, request);
  }

  /// Distributes the contexts over several servers, of which the first counts the events.
  TaskLoad(List<Integer> ports, int contexts, String request) {
    this.ports = List.copyOf(ports);
    this.contexts = contexts;
    this.request = request;
  }

  /// Runs for `time`, after every context has run one task.
  TaskLoadResult run(Duration time) throws IOException, InterruptedException {
    var done = new LongAdder();
    var ready = new CountDownLatch(contexts);
    var go = new CountDownLatch(1);
    var end = new AtomicLong();
    var failure = new AtomicReference<IOException>();
    var threads = new ArrayList<Thread>();
    for (var i = 0; i < contexts; i++) {
      var port = ports.get(i % ports.size());
      threads.add(
          start(
              failure,
              () -> {
                try (var benchmarkChat = new BenchmarkChat(port, "task-complete")) {
                  task(benchmarkChat);
                  ready.countDown();
                  go.await();
                  while (System.nanoTime() < end.get()) {
                    task(benchmarkChat);
                    done.add(System.nanoTime() < end.get() ? 1 : 0);
                  }
                } finally {
                  ready.countDown();
                }
              }));
    }
    ready.await();
    var times = new Times(new LatencyHistogram(), new LatencyHistogram());
    var before = appended();
    var begin = System.nanoTime();
    end.set(begin + time.toNanos());
    go.countDown();
    threads.add(start(failure, () -> probe(end.get(), times)));
    TimeUnit.NANOSECONDS.sleep(end.get() - System.nanoTime());
    var events = appended() - before;
    var seconds = (System.nanoTime() - begin) / 1e9;
    for (var thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
    return new TaskLoadResult(
        done.sum() * 1e9 / time.toNanos(),
        events / seconds,
        times.firstEvent(),
        times.firstDelta());
  }

  private record Times(LatencyHistogram firstEvent, LatencyHistogram firstDelta) {}

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private static Thread start(AtomicReference<IOException> failure, Work work) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try {
                work.run();
              } catch (IOException failed) {
                failure.set(failed);
              } catch (InterruptedException told) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private void task(BenchmarkChat benchmarkChat) throws IOException {
    benchmarkChat.send(request, TasksBenchmark.NAMED);
    benchmarkChat.await("task-complete");
  }

  /// Sends one message after another in a separate context, during the load.
  private void probe(long end, Times times) throws IOException {
    try (var benchmarkChat = new BenchmarkChat(ports.getFirst(), "")) {
      do {
        var begin = System.nanoTime();
        benchmarkChat.send("say hello", TasksBenchmark.NAMED);
        benchmarkChat.await("message");
        times.firstEvent().add(System.nanoTime() - begin);
        benchmarkChat.await("content-delta");
        times.firstDelta().add(System.nanoTime() - begin);
        benchmarkChat.await("task-complete");
      } while (System.nanoTime() < end);
    }
  }

  private double appended() throws IOException {
    try (var httpConnection = new HttpConnection(ports.getFirst())) {
      var found = APPENDED.matcher(httpConnection.get("/metrics"));
      if (!found.find()) {
        throw new IOException("the metrics of the server have no number of appended events");
      }
      return Double.parseDouble(found.group(1));
    }
  }
}
