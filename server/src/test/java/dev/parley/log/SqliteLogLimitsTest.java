package dev.parley.log;

import static dev.parley.log.EventLogContract.created;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.LogTuning.MemoryLimits;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The memory of the log stays within its limits under any load.
@Timeout(value = 120, unit = TimeUnit.SECONDS)
final class SqliteLogLimitsTest {

  private static final int CLIENTS = 60;
  private static final int MANY = 1 << 30;

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();

  private BlockLog open(LogTuning logTuning, FaultInjector faultInjector) {
    return FaultyStore.open(TestLogs.in(folder, logTuning), faultInjector);
  }

  private BlockLog openWithManualTime(LogTuning logTuning) {
    return SqliteLog.open(TestLogs.in(folder, logTuning, time));
  }

  private static ContextId context(int number) {
    return new ContextId("c" + number);
  }

  private static void appendMessage(EventLog log, ContextId context, String text) {
    log.append(context, AppendGuard.none(), Decision.always(messageDraft(text)));
  }

  private static EventDraft messageDraft(String text) {
    return EventDraft.of(new Message(new MessageId("m"), Role.USER, text, null, null));
  }

  enum Limit {
    CONTEXTS,
    STORED_BYTES,
    MEMORY;

    LogTuning tuning() {
      var memory =
          new MemoryLimits(
              this == CONTEXTS ? 40 : 100_000,
              this == MEMORY ? 40_000 : MANY,
              1_000,
              10_000,
              8,
              100,
              300_000,
              10_000);
      return new LogTuning(
          64, 60_000, 1_000, MANY, this == STORED_BYTES ? 10_000 : MANY, 20, 64 << 10, memory);
    }
  }

  /// Delays each commit until every client has an append in the queue, and records the maxima of
  /// the log.
  private static final class CrowdedCommits implements FaultInjector {
    private int clients;
    private int appending;
    volatile @Nullable BlockLog log;
    int contextsMax;
    int inMemoryMax;
    long bytesMax;
    long windowsMax;

    @Override
    public void beforeCommit() {
      awaitClients();
      var looked = log;
      if (looked != null) {
        contextsMax = Math.max(contextsMax, looked.unsealedContexts());
        inMemoryMax = Math.max(inMemoryMax, looked.contextsInMemory());
        bytesMax = Math.max(bytesMax, looked.unsealedBytes());
        windowsMax = Math.max(windowsMax, looked.windowBytes());
      }
    }

    private synchronized void awaitClients() {
      try {
        while (appending < clients) {
          wait();
        }
      } catch (InterruptedException ended) {
        Thread.currentThread().interrupt();
      }
    }

    synchronized void addClients(int change) {
      clients += change;
      notifyAll();
    }

    private synchronized void addAppending(int change) {
      appending += change;
      notifyAll();
    }

    void append(Runnable append) {
      addAppending(1);
      try {
        append.run();
      } finally {
        addAppending(-1);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void what_is_unsealed_is_bounded_however_many_contexts_are_written_at_once(Limit limit)
      throws InterruptedException {
    var crowdedCommits = new CrowdedCommits();
    var numbers = new AtomicInteger();
    var text = "x".repeat(100);
    try (var log = open(limit.tuning(), crowdedCommits)) {
      crowdedCommits.log = log;
      crowdedCommits.addClients(CLIENTS);
      var threads = new ArrayList<Thread>();
      for (var c = 0; c < CLIENTS; c++) {
        threads.add(
            Thread.startVirtualThread(
                () -> {
                  for (var i = 0; i < 15; i++) {
                    var context = context(numbers.getAndIncrement());
                    crowdedCommits.append(() -> log.create(context, created()));
                    crowdedCommits.append(() -> appendMessage(log, context, text));
                  }
                  crowdedCommits.addClients(-1);
                }));
      }
      for (var thread : threads) {
        thread.join();
      }
    }
    switch (limit) {
      case CONTEXTS -> {
        assertThat(crowdedCommits.contextsMax).isBetween(20, 80);
        // In addition: the contexts in use, and 20 unused ones.
        assertThat(crowdedCommits.inMemoryMax).isLessThan(80 + 20 + 2 * CLIENTS);
      }
      case STORED_BYTES -> assertThat(crowdedCommits.bytesMax).isBetween(5_000L, 20_000L);
      case MEMORY -> assertThat(crowdedCommits.windowsMax).isBetween(20_000L, 2 * 80_000L);
    }
    try (var log = open(limit.tuning(), FaultInjector.NONE)) {
      for (var i = 0; i < numbers.get(); i++) {
        assertThat(log.read(context(i), Position.START, 10))
            .extracting(Entry::event)
            .containsExactly(created(), messageDraft(text).event());
      }
    }
  }

  @Test
  void a_commit_seals_as_many_contexts_as_it_takes_to_get_below_the_hard_limit()
      throws IOException {
    var crashed = folder.resolve("crashed");
    try (var log = open(Limit.STORED_BYTES.tuning(), FaultInjector.NONE)) {
      for (var c = 0; c < 50; c++) {
        log.create(context(c), created());
      }
      assertThat(log.unsealedContexts()).isEqualTo(50);
      TestLogs.copy(folder, crashed);
    }
    var memory = new MemoryLimits(5, MANY, 1_000, 10_000, 8, 100, 1_000, 10_000);
    try (var log =
        SqliteLog.open(
            TestLogs.in(crashed, new LogTuning(8, MANY, 100, MANY, MANY, 2, MANY, memory)))) {
      appendMessage(log, context(0), "one append, more than the usual 16 seals");
      assertThat(log.unsealedContexts()).isEqualTo(10);
      appendMessage(log, context(0), "next");
      assertThat(log.unsealedContexts()).isEqualTo(5);
      for (var c = 0; c < 50; c++) {
        assertThat(log.head(context(c))).isEqualTo(Position.of(c == 0 ? 3 : 1));
      }
    }
  }

  /// Limits that seal at once and keep the windows of all readers small.
  private static LogTuning smallWindows(int live, int contexts, int waitMillis) {
    var memory = new MemoryLimits(2, MANY, 30_000, 100_000, 8, 100, contexts, waitMillis);
    return new LogTuning(4, 1 << 20, 256, 1, MANY, live, 1 << 20, memory);
  }

  private static Thread waitForEver(EventLog log, ContextId context) {
    return TestLogs.THREADS.start(
        "reader-" + context + "-",
        () -> {
          try {
            log.await(context, Position.of(MANY), Duration.ofDays(1));
          } catch (InterruptedException | Rejection.Unavailable left) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private void awaitParked(List<Thread> threads) {
    threads.forEach(thread -> time.awaitWait(thread.getName()));
  }

  @Test
  void windows_are_bounded_while_readers_wait_and_cut_when_they_leave()
      throws InterruptedException {
    var text = "x".repeat(10_000);
    try (var log = openWithManualTime(smallWindows(100, 1_000, 10_000))) {
      log.create(context(0), created());
      var first = waitForEver(log, context(0));
      awaitParked(List.of(first));
      for (var i = 0; i < 30; i++) {
        appendMessage(log, context(0), text + i);
        // In addition to the 30,000: the unsealed entries, and as much again for dropped ones.
        assertThat(log.windowBytes()).isLessThan(2 * (30_000 + 3 * 22_000));
      }
      assertThat(log.windowBytes()).isGreaterThan(20_000);
      first.interrupt();
      first.join();
      assertThat(log.windowBytes()).isLessThan(25_000);

      var readers = new ArrayList<Thread>();
      for (var c = 1; c <= 40; c++) {
        log.create(context(c), created());
        readers.add(waitForEver(log, context(c)));
      }
      awaitParked(readers);
      for (var i = 0; i < 5; i++) {
        for (var c = 1; c <= 40; c++) {
          appendMessage(log, context(c), text + i);
          assertThat(log.windowBytes()).isLessThan(100_000 + 5 * 22_000);
        }
      }
      assertThat(log.windowBytes()).isGreaterThan(80_000);
      assertThat(log.read(context(7), Position.START, 100)).hasSize(6);
      readers.forEach(Thread::interrupt);
      for (var reader : readers) {
        reader.join();
      }
      assertThat(log.windowBytes()).isLessThan(50_000);
    }
  }

  @Test
  void a_reader_that_left_with_an_entry_leaves_no_window_behind() throws InterruptedException {
    var text = "x".repeat(10_000);
    try (var log = openWithManualTime(smallWindows(100, 1_000, 10_000))) {
      log.create(context(0), created());
      for (var c = 1; c <= 20; c++) {
        log.create(context(c), created());
        var reader = waitForEver(log, context(c));
        awaitParked(List.of(reader));
        appendMessage(log, context(c), text);
        appendMessage(log, context(c), text + 1);
        reader.interrupt();
        reader.join();
        assertThat(log.await(context(c), Position.START, Duration.ofDays(1))).isTrue();
      }
      for (var i = 0; i < 5; i++) {
        appendMessage(log, context(0), "m" + i);
      }
      assertThat(log.windowBytes()).isLessThan(50_000);
    }
  }

  @Test
  void one_context_more_than_there_is_room_for_waits_until_another_is_no_longer_used()
      throws InterruptedException {
    var max = 12;
    try (var log = openWithManualTime(smallWindows(2, max, 60_000))) {
      var readers = fill(log, max);
      var late =
          TestLogs.THREADS.start(
              "late",
              () -> {
                log.create(context(max), created());
                appendMessage(log, context(max), "late");
              });
      time.awaitWait("late");
      assertThat(log.contextsInMemory()).isEqualTo(max);
      readers.getFirst().interrupt();
      late.join();
      assertThat(log.contextsInMemory()).isLessThanOrEqualTo(max);
      assertThat(log.head(context(max))).isEqualTo(Position.of(2));
      readers.forEach(Thread::interrupt);
    }
  }

  @Test
  void one_context_more_than_can_be_in_memory_is_refused_and_the_others_are_served() {
    var max = 12;
    try (var log = openWithManualTime(smallWindows(2, max, 0))) {
      var readers = fill(log, max);
      assertThatThrownBy(() -> log.create(context(max), created()))
          .isInstanceOf(Rejection.Unavailable.class)
          .hasMessageContaining("too many contexts");
      appendMessage(log, context(3), "served");
      assertThat(log.contextsInMemory()).isEqualTo(max);
      readers.forEach(Thread::interrupt);
    }
  }

  /// Limits that keep 4 keys of one context in memory, and 10 keys in total.
  private static LogTuning fewKeys(int live) {
    var memory = new MemoryLimits(100, MANY, 1_000, 10_000, 4, 10, 1_000, 10_000);
    return new LogTuning(64, 60_000, 5, MANY, MANY, live, 1 << 20, memory);
  }

  private static AppendGuard.IdempotencyKey key(int number) {
    return new AppendGuard.IdempotencyKey("local", "k" + number, "hash" + number);
  }

  private static AppendResult once(EventLog log, ContextId context, int number) {
    return log.append(context, key(number), Decision.always(messageDraft("m" + number)));
  }

  @Test
  void keys_that_are_no_longer_in_memory_still_count() {
    var first = new ArrayList<AppendResult>();
    try (var log = open(fewKeys(50), FaultInjector.NONE)) {
      log.create(context(0), created());
      for (var i = 0; i < 50; i++) {
        first.add(once(log, context(0), i));
        assertThat(log.keysInMemory()).isLessThanOrEqualTo(4);
      }
      assertThat(first).noneMatch(AppendResult::replayed);
      assertReplayed(log, first);
    }
    try (var log = open(fewKeys(50), FaultInjector.NONE)) {
      assertReplayed(log, first);
      assertThatThrownBy(
              () ->
                  log.append(
                      context(0),
                      new AppendGuard.IdempotencyKey("local", "k7", "another body"),
                      Decision.always(messageDraft("another"))))
          .isInstanceOf(Rejection.Conflict.class);
      assertThat(once(log, context(0), 50).replayed()).isFalse();
      assertThat(log.head(context(0))).isEqualTo(Position.of(52));
    }
  }

  private static void assertReplayed(BlockLog log, List<AppendResult> first) {
    for (var i = 0; i < first.size(); i++) {
      assertThat(once(log, context(0), i))
          .isEqualTo(new AppendResult(first.get(i).first(), first.get(i).last(), true));
      assertThat(log.keysInMemory()).isLessThanOrEqualTo(4);
    }
  }

  @Test
  void keys_of_all_contexts_are_bounded_together() {
    try (var log = open(fewKeys(50), FaultInjector.NONE)) {
      for (var c = 0; c < 20; c++) {
        log.create(context(c), created());
        for (var i = 0; i < 3; i++) {
          assertThat(once(log, context(c), i).replayed()).isFalse();
          assertThat(log.keysInMemory()).isLessThanOrEqualTo(10);
        }
      }
      for (var c = 0; c < 20; c++) {
        for (var i = 0; i < 3; i++) {
          assertThat(once(log, context(c), i).replayed()).isTrue();
          assertThat(log.keysInMemory()).isLessThanOrEqualTo(10);
        }
      }
    }
  }

  @Test
  void a_key_is_used_once_however_many_send_it_at_the_same_time() throws InterruptedException {
    var fresh = new AtomicInteger();
    try (var log = open(fewKeys(50), FaultInjector.NONE)) {
      log.create(context(0), created());
      var threads = new ArrayList<Thread>();
      for (var t = 0; t < 8; t++) {
        var offset = t;
        threads.add(
            Thread.startVirtualThread(
                () -> {
                  for (var i = 0; i < 60; i++) {
                    // Close together, so that a key may leave memory while another thread looks it
                    // up.
                    if (!once(log, context(0), (i + offset) % 60).replayed()) {
                      fresh.incrementAndGet();
                    }
                  }
                }));
      }
      for (var thread : threads) {
        thread.join();
      }
      assertThat(fresh.get()).isEqualTo(60);
      assertThat(log.head(context(0))).isEqualTo(Position.of(61));
      assertThat(log.keysInMemory()).isLessThanOrEqualTo(4);
    }
  }

  /// Starts a waiting reader for each of this many contexts.
  private List<Thread> fill(BlockLog log, int contexts) {
    var readers =
        IntStream.range(0, contexts)
            .mapToObj(
                c -> {
                  log.create(context(c), created());
                  return waitForEver(log, context(c));
                })
            .toList();
    awaitParked(readers);
    return readers;
  }

  @Test
  void a_log_with_more_unsealed_contexts_than_places_lets_others_in() throws IOException {
    var crashed = folder.resolve("crashed");
    var wide = tuning(1_000, 60_000);
    try (var log = open(wide, FaultInjector.NONE)) {
      IntStream.range(0, 300).forEach(number -> log.create(context(number), created()));
      assertThat(log.unsealedContexts()).isGreaterThan(200);
      TestLogs.copy(folder, crashed);
    }

    try (var log = SqliteLog.open(TestLogs.in(crashed, tuning(50, 200)))) {
      for (var number = 1_000; number < 1_020; number++) {
        assertThat(log.create(context(number), created())).isTrue();
      }
      assertThat(log.head(context(299))).isEqualTo(Position.of(1));
    }
  }

  /// Limits of the number of contexts that may be unsealed before sealing begins, and of those in
  /// memory.
  private static LogTuning tuning(int unsealedContexts, int contexts) {
    return new LogTuning(
        64,
        1 << 20,
        256,
        1 << 20,
        16 << 20,
        0,
        16 << 20,
        new MemoryLimits(
            unsealedContexts, 64 << 20, 64 << 10, 64 << 20, 32, 50_000, contexts, 1_000));
  }

  @Test
  void small_appends_do_not_let_the_write_ahead_log_grow() throws IOException {
    var walBytes = 1L << 20;
    var wal = folder.resolve("log.db-wal");
    try (var log =
        open(
            new LogTuning(4_096, 1 << 20, 256, 64 << 10, 16 << 20, 2_000, walBytes),
            FaultInjector.NONE)) {
      var emptyBytes = Files.size(folder.resolve("log.db"));
      var number = 0;
      while (Files.size(wal) <= walBytes) {
        log.create(context(number++), created());
      }

      while (Files.size(folder.resolve("log.db")) == emptyBytes) {
        Thread.onSpinWait(); // The checkpointer copies the pages in the background.
      }
      while (Files.size(wal) > walBytes) {
        log.create(context(number++), created());
      }

      assertThat(log.read(context(0), Position.START, 10)).hasSize(1);
    }
  }
}
