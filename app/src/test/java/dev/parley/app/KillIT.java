package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Kills the real program in the middle of its work, again and again (CORE-23, promises 1, 2, 8, 9,
/// 10).
final class KillIT {

  private static final List<String> WORK =
      List.of("count to 300", "say something short", "think about storms", "count slowly to 8");

  @TempDir Path data;

  @Test
  void killed_ten_times_at_random_it_loses_nothing() throws InterruptedException, IOException {
    killAtRandom(10);
  }

  @Test
  @Tag("long")
  void killed_two_hundred_times_at_random_it_loses_nothing()
      throws InterruptedException, IOException {
    killAtRandom(200);
  }

  private void killAtRandom(int times) throws InterruptedException, IOException {
    var random = new Random(times);
    try (var logWitness = new LogWitness()) {
      for (var round = 0; round < times; round++) {
        try (var server = RealProcess.serve(data)) {
          logWitness.holdToRecent(server.url());
          load(logWitness, server, random);
        }
      }
      assertThat(logWitness.acknowledgements()).isGreaterThan(times);
      var kept = settled(logWitness);
      dropViews();
      assertThat(settled(logWitness)).isEqualTo(kept);
    }
  }

  /// Starts clients, kills the server after a random number of events, and waits for the clients to
  /// notice.
  private static void load(LogWitness logWitness, RealProcess server, Random random)
      throws InterruptedException {
    var url = server.url();
    logWitness.countArrivals();
    var first = new CountDownLatch(3);
    var threads = new ArrayList<Thread>();
    for (var i = 0; i < 6; i++) {
      var seed = random.nextLong();
      threads.add(Thread.ofVirtual().start(() -> talk(logWitness, url, new Random(seed), first)));
    }
    // Even on a slow machine, work is in progress when the server is killed.
    assertThat(first.await(60, TimeUnit.SECONDS)).isTrue();
    logWitness.awaitArrivals(random.nextInt(1_000));
    server.kill();
    for (var thread : threads) {
      thread.join();
    }
  }

  private static void talk(LogWitness logWitness, URI url, Random random, CountDownLatch first) {
    try {
      while (true) {
        var known = logWitness.contexts();
        var context =
            known.isEmpty() || random.nextInt(3) == 0
                ? logWitness.create(url)
                : known.get(random.nextInt(known.size()));
        logWitness.startWatching(url, context);
        for (var i = 0; i < 2; i++) {
          logWitness.send(url, context, WORK.get(random.nextInt(WORK.size())));
          first.countDown();
        }
      }
    } catch (UncheckedIOException killed) {
      first.countDown();
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
    }
  }

  /// Starts the server again, waits until all tasks have ended, and returns the content of the
  /// views.
  private String settled(LogWitness logWitness) throws InterruptedException {
    try (var server = RealProcess.serve(data)) {
      logWitness.awaitEnds(server.url());
      logWitness.holdTo(server.url());
      var views = logWitness.views(server.url());
      assertThat(server.terminate()).isZero();
      return views;
    }
  }

  private void dropViews() throws IOException {
    try (var files = Files.list(data)) {
      for (var file : files.filter(f -> f.getFileName().toString().startsWith("views.")).toList()) {
        Files.delete(file);
      }
    }
  }
}
