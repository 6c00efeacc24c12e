package dev.parley.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/// Kills a server with many open tasks, and measures how fast the next server resumes them.
///
/// Half of the tasks are running and half wait for a person; those must still wait after the
/// restart. A few clients look at one task after the other, so that reading costs little.
final class RecoveryBenchmark {

  private static final String WAITING = "\"status\":\"waiting-input\"";
  private static final int CLIENTS = 64;

  private final TemporaryFolder temporaryFolder;
  private final int tasks;

  /// Seconds from the start of the process to its ready line, and until every running task has
  /// continued. Meanwhile, `requests` tasks of another client were answered.
  record RecoveryResult(double ready, double advanced, LatencyHistogram requests) {}

  private record Open(String path, long position, boolean working) {}

  RecoveryBenchmark(TemporaryFolder temporaryFolder, int tasks) {
    this.temporaryFolder = temporaryFolder;
    this.tasks = tasks;
  }

  RecoveryResult measure() throws IOException, InterruptedException {
    List<Open> open;
    try (var server = server()) {
      var port = TasksBenchmark.port(server);
      // The running tasks come last, because they take processor time.
      open = new ArrayList<>(begin(port, false));
      open.addAll(begin(port, true));
      server.kill();
    }
    var begin = System.nanoTime();
    try (var server = server()) {
      var port = TasksBenchmark.port(server);
      var ready = System.nanoTime();
      var seen = new ArrayList<Callable<Open>>();
      for (var one : open) {
        if (one.working()) {
          seen.add(() -> awaitAdvance(port, one));
        }
      }
      var recovered = new CountDownLatch(1);
      var requests = new FutureTask<>(() -> askUntil(recovered, port));
      Thread.ofVirtual().start(requests);
      all(seen);
      var advanced = System.nanoTime();
      recovered.countDown();
      var served = result(requests);
      for (var one : open) {
        if (!one.working()) {
          checkWaiting(port, one);
        }
      }
      server.kill();
      return new RecoveryResult((ready - begin) / 1e9, (advanced - begin) / 1e9, served);
    }
  }

  /// The real program, with a limit that lets all tasks run at once.
  private BenchmarkProcess server() throws IOException {
    var folder = temporaryFolder.path();
    var config = folder.resolve("parley.yaml");
    Files.writeString(
        config, "limits: {maxConcurrentTasks: %d, taskTimeout: 1h}\n".formatted(tasks + CLIENTS));
    return BenchmarkProcess.program(
        List.of(
            "serve",
            "--port",
            "0",
            "--data",
            folder.resolve("data").toString(),
            "--config",
            config.toString()),
        folder);
  }

  private List<Open> begin(int port, boolean working) throws IOException, InterruptedException {
    return all(Collections.nCopies(tasks / 2, () -> beginOne(port, working)));
  }

  /// The times of tasks in new contexts, one after the other.
  private static LatencyHistogram askUntil(CountDownLatch recovered, int port) throws IOException {
    var took = new LatencyHistogram();
    do {
      var begin = System.nanoTime();
      try (var benchmarkChat = new BenchmarkChat(port, "task-complete")) {
        benchmarkChat.send("say hello", TasksBenchmark.NAMED);
        benchmarkChat.await("task-complete");
      }
      took.add(System.nanoTime() - begin);
    } while (recovered.getCount() > 0);
    return took;
  }

  private static Open beginOne(int port, boolean working) throws IOException {
    try (var benchmarkChat = new BenchmarkChat(port, "")) {
      benchmarkChat.send(working ? "count slowly to 5000" : "ask me what", TasksBenchmark.NAMED);
      benchmarkChat.await(working ? "content-delta" : "input-required");
      try (var httpConnection = new HttpConnection(port)) {
        while (!working && !httpConnection.get(benchmarkChat.path() + "/tasks").contains(WAITING)) {
          Thread.onSpinWait();
        }
        var position = BenchmarkChat.field(httpConnection.get(benchmarkChat.path()), "position");
        return new Open(benchmarkChat.path(), Long.parseLong(position.split("\\.", 2)[0]), working);
      }
    }
  }

  private static Open awaitAdvance(int port, Open task) throws IOException {
    try (var stream =
        new EventLines(port, task.path() + "/stream?kinds=task-status&after=" + task.position())) {
      stream.await("task-status");
      return task;
    }
  }

  private static void checkWaiting(int port, Open task) throws IOException {
    try (var httpConnection = new HttpConnection(port)) {
      var tasks = httpConnection.get(task.path() + "/tasks");
      if (!tasks.contains(WAITING)) {
        throw new IOException("a task that waited no longer waits: " + tasks);
      }
    }
  }

  private static <T> List<T> all(List<Callable<T>> work) throws IOException, InterruptedException {
    try (var threads = Executors.newFixedThreadPool(CLIENTS, Thread.ofVirtual().factory())) {
      var done = new ArrayList<T>();
      for (var one : threads.invokeAll(work)) {
        done.add(result(one));
      }
      return done;
    }
  }

  private static <T> T result(Future<T> future) throws IOException, InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException failed) {
      throw new IOException("recovery cannot be measured", failed.getCause());
    }
  }
}
