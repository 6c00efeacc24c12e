package dev.parley.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;

/// Kills a server with many open tasks, and measures how fast the next server resumes them.
///
/// Half of the tasks are running and half wait for a person; those must still wait after the
/// restart.
final class RecoveryBenchmark {

  private static final String WAITING = "\"status\":\"waiting-input\"";

  private final TemporaryFolder temporaryFolder;
  private final int tasks;

  /// Seconds from the start of the process to its ready line, and from there until every running
  /// task has advanced.
  record RecoveryResult(double ready, double advanced) {}

  private record Open(String path, long position, boolean working) {}

  RecoveryBenchmark(TemporaryFolder temporaryFolder, int tasks) {
    this.temporaryFolder = temporaryFolder;
    this.tasks = tasks;
  }

  RecoveryResult measure() throws IOException, InterruptedException {
    List<Open> open;
    try (var server = TasksBenchmark.server(temporaryFolder)) {
      var port = TasksBenchmark.port(server);
      var begun = new ArrayList<Callable<Open>>();
      for (var i = 0; i < tasks; i++) {
        var working = i % 2 == 0;
        begun.add(() -> begin(port, working));
      }
      open = all(begun);
      server.kill();
    }
    var begin = System.nanoTime();
    try (var server = TasksBenchmark.server(temporaryFolder)) {
      var port = TasksBenchmark.port(server);
      var ready = System.nanoTime();
      var seen = new ArrayList<Callable<Open>>();
      for (var one : open) {
        if (one.working()) {
          seen.add(() -> awaitAdvance(port, one));
        }
      }
      all(seen);
      var advanced = System.nanoTime();
      for (var one : open) {
        if (!one.working()) {
          checkWaiting(port, one);
        }
      }
      server.kill();
      return new RecoveryResult((ready - begin) / 1e9, (advanced - ready) / 1e9);
    }
  }

  private static Open begin(int port, boolean working) throws IOException {
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
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var done = new ArrayList<T>();
      for (var one : threads.invokeAll(work)) {
        done.add(one.get());
      }
      return done;
    } catch (ExecutionException failed) {
      throw new IOException("recovery cannot be measured", failed.getCause());
    }
  }
}
