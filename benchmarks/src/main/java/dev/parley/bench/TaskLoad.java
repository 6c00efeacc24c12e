package dev.parley.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;

/// Many contexts at once, in each of which one task follows the other, over HTTP.
final class TaskLoad {

  private static final Pattern APPENDED =
      Pattern.compile("(?m)^parley_events_appended_total (\\S+)$");

  private final int port;
  private final int contexts;
  private final String request;

  /// What was measured: tasks begun and events made durable in a second, and how long one message in a
  /// context of its own took meanwhile, to its first event and to its first word.
  record Found(double starts, double events, Histogram firstEvent, Histogram firstDelta) {}

  TaskLoad(int port, int contexts, String request) {
    this.port = port;
    this.contexts = contexts;
    this.request = request;
  }

  /// Works for `time`, after everybody has done one task.
  Found run(Duration time) throws IOException, InterruptedException {
    var starts = new LongAdder();
    var ready = new CountDownLatch(contexts);
    var go = new CountDownLatch(1);
    var end = new AtomicReference<Long>(0L);
    var failure = new AtomicReference<IOException>();
    var threads = new ArrayList<Thread>();
    for (var i = 0; i < contexts; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try (var talk = new Talk(port, "task-complete")) {
                      task(talk);
                      ready.countDown();
                      go.await();
                      while (System.nanoTime() < end.get()) {
                        starts.increment();
                        task(talk);
                      }
                    } catch (IOException failed) {
                      failure.set(failed);
                      ready.countDown();
                    } catch (InterruptedException told) {
                      Thread.currentThread().interrupt();
                    }
                  }));
    }
    ready.await();
    var before = appended();
    var begin = System.nanoTime();
    end.set(begin + time.toNanos());
    go.countDown();
    var found = probe(end.get());
    var seconds = (System.nanoTime() - begin) / 1e9;
    var rate = starts.sum() / seconds;
    var events = (appended() - before) / seconds;
    for (var thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new UncheckedIOException(failure.get());
    }
    return new Found(rate, events, found.firstEvent(), found.firstDelta());
  }

  private void task(Talk talk) throws IOException {
    talk.say(request, TasksBenchmark.NAMED);
    talk.await("task-complete");
  }

  /// One person who sends a message after the other while all the rest goes on.
  private Found probe(long end) throws IOException {
    var firstEvent = new Histogram();
    var firstDelta = new Histogram();
    try (var talk = new Talk(port, "")) {
      do {
        var begin = System.nanoTime();
        talk.say("say hello", TasksBenchmark.NAMED);
        talk.await("message");
        firstEvent.add(System.nanoTime() - begin);
        talk.await("content-delta");
        firstDelta.add(System.nanoTime() - begin);
        talk.await("task-complete");
      } while (System.nanoTime() < end);
    }
    return new Found(0, 0, firstEvent, firstDelta);
  }

  private double appended() throws IOException {
    try (var caller = new Caller(port)) {
      var found = APPENDED.matcher(caller.get("/metrics"));
      if (!found.find()) {
        throw new IOException("the server does not say how many events it wrote");
      }
      return Double.parseDouble(found.group(1));
    }
  }
}
