package dev.parley.log;

import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.runtime.ManualTime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Contexts that do not change are sealed in the background, and all contexts when the log is
/// closed.
final class SqliteLogIdleTest {

  /// More than one commit seals.
  private static final int CONTEXTS = 40;

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();

  private BlockLog open(Path from, FaultInjector faultInjector) {
    return FaultyStore.open(TestLogs.in(from, LogTuning.DEFAULT, time), faultInjector);
  }

  private static ContextId context(int number) {
    return new ContextId("c" + number);
  }

  private static void append(EventLog log, ContextId context, String text) {
    log.append(context, AppendGuard.none(), Decision.always(message(text)));
  }

  private static void fill(EventLog log) {
    for (var c = 0; c < CONTEXTS; c++) {
      log.create(context(c), created());
      append(log, context(c), "text" + c);
    }
  }

  private static Map<ContextId, List<Entry>> all(EventLog log) {
    var entries = new HashMap<ContextId, List<Entry>>();
    for (var c = 0; c < CONTEXTS; c++) {
      entries.put(context(c), log.read(context(c), Position.START, 100));
    }
    return entries;
  }

  /// Moves time until at most this many contexts are unsealed.
  private void awaitUnsealed(BlockLog log, int most) {
    while (log.unsealedContexts() > most) {
      time.advance(Duration.ofSeconds(1));
      Thread.onSpinWait();
    }
  }

  @Test
  void contexts_that_do_not_change_are_sealed_and_stay_readable() throws IOException {
    var crashed = folder.resolve("crashed");
    try (var log = open(folder, FaultInjector.NONE)) {
      fill(log);
      var entries = all(log);
      assertThat(log.unsealedContexts()).isEqualTo(CONTEXTS);

      awaitUnsealed(log, 0);

      assertThat(log.unsealedBytes()).isZero();
      assertThat(all(log)).isEqualTo(entries);
      TestLogs.copy(folder, crashed);
      try (var next = open(crashed, FaultInjector.NONE)) {
        assertThat(next.contextsInMemory()).isZero();
        assertThat(all(next)).isEqualTo(entries);
      }
    }
  }

  @Test
  void a_context_that_changed_a_moment_ago_is_not_sealed() {
    try (var log = open(folder, FaultInjector.NONE)) {
      log.create(context(0), created());
      log.create(context(1), created());
      time.advance(Duration.ofSeconds(6));
      append(log, context(1), "later");
      time.advance(Duration.ofSeconds(6));

      while (log.unsealedContexts() > 1) {
        Thread.onSpinWait();
      }
      append(log, context(1), "again");
      assertThat(log.unsealedContexts()).isEqualTo(1);
      awaitUnsealed(log, 0);
      assertThat(log.head(context(1))).isEqualTo(Position.of(3));
    }
  }

  @Test
  void killed_at_any_commit_that_seals_idle_contexts_it_loses_nothing() {
    var copying = new AtomicBoolean();
    var copies = new ArrayList<Path>();
    var copyingStore =
        new FaultInjector() {
          @Override
          public void beforeSeal(ContextId context) {
            copy();
          }

          @Override
          public void afterCommit() {
            copy();
          }

          private void copy() {
            if (copying.get()) {
              var copy = folder.resolve("copy" + copies.size());
              copies.add(copy);
              try {
                TestLogs.copy(folder, copy);
              } catch (IOException failed) {
                throw new UncheckedIOException(failed);
              }
            }
          }
        };
    Map<ContextId, List<Entry>> entries;
    try (var log = open(folder, copyingStore)) {
      fill(log);
      entries = all(log);
      copying.set(true);
      awaitUnsealed(log, 0);
      copying.set(false);
    }
    assertThat(copies).hasSizeGreaterThan(CONTEXTS);
    for (var copy : copies) {
      try (var log = open(copy, FaultInjector.NONE)) {
        assertThat(all(log)).isEqualTo(entries);
        append(log, context(0), "after-the-crash");
        assertThat(log.head(context(0))).isEqualTo(Position.of(3));
      }
    }
  }

  @Test
  void a_context_that_cannot_be_sealed_keeps_no_other_from_being_sealed() {
    var bad = context(7);
    var broken =
        new FaultInjector() {
          @Override
          public void beforeSeal(ContextId context) {
            if (context.equals(bad)) {
              throw new IllegalStateException("a state that cannot be saved");
            }
          }
        };
    try (var log = open(folder, broken)) {
      fill(log);
      awaitUnsealed(log, 1);
      append(log, bad, "writable");
      assertThat(log.head(bad)).isEqualTo(Position.of(3));
      assertThat(log.unsealedContexts()).isEqualTo(1);
    }
    try (var log = open(folder, FaultInjector.NONE)) {
      assertThat(log.head(bad)).isEqualTo(Position.of(3));
    }
  }

  @Test
  void a_commit_that_fails_while_it_seals_is_tried_again_later() {
    var fault = new AtomicReference<SQLException>();
    var failing =
        new FaultInjector() {
          @Override
          public void beforeCommit() throws SQLException {
            var failure = fault.getAndSet(null);
            if (failure != null) {
              throw failure;
            }
          }
        };
    try (var log = open(folder, failing)) {
      fill(log);
      var entries = all(log);
      fault.set(new SQLException("no space"));
      awaitUnsealed(log, 0);
      assertThat(fault.get() == null).isTrue();
      assertThat(log.writable()).isTrue();
      assertThat(all(log)).isEqualTo(entries);
    }
  }

  @Test
  void a_context_whose_last_commit_was_in_doubt_is_sealed_too() {
    var fault = new AtomicReference<SQLException>();
    var doubtful =
        new FaultInjector() {
          @Override
          public void afterCommit() throws SQLException {
            var failure = fault.getAndSet(null);
            if (failure != null) {
              throw failure;
            }
          }
        };
    try (var log = open(folder, doubtful)) {
      fill(log);
      awaitUnsealed(log, 0);
      fault.set(new SQLException("disk I/O error"));
      append(log, context(0), "durable");

      awaitUnsealed(log, 0);

      assertThat(log.head(context(0))).isEqualTo(Position.of(3));
    }
  }

  /// Writes more blocks that are shared by contexts than one commit deletes.
  private static void fillSharedBlocks(EventLog log) throws InterruptedException {
    var draft =
        EventDraft.of(new Message(new MessageId("m"), Role.USER, "x".repeat(10_000), null, null));
    var threads = new ArrayList<Thread>();
    for (var c = 0; c < 300; c++) {
      var context = context(c);
      threads.add(
          Thread.startVirtualThread(
              () -> {
                log.create(context, created());
                log.append(context, AppendGuard.none(), Decision.always(draft));
              }));
    }
    for (var thread : threads) {
      thread.join();
    }
  }

  private long storedBlocks(String aggregate) throws SQLException {
    try (var other = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
        var statement = other.createStatement();
        var rows = statement.executeQuery("SELECT " + aggregate + " FROM blocks")) {
      return rows.getLong(1);
    }
  }

  @Test
  void closing_the_log_deletes_the_blocks_that_were_sealed() throws Exception {
    try (var log = open(folder, FaultInjector.NONE)) {
      fillSharedBlocks(log);
      assertThat(storedBlocks("sum(length(data))")).isGreaterThan(2L << 20);
    }
    assertThat(storedBlocks("sum(length(data))")).isZero();
    assertThat(storedBlocks("count(*)")).isOne();
    try (var log = open(folder, FaultInjector.NONE)) {
      assertThat(log.read(context(299), Position.START, 10)).hasSize(2);
    }
  }

  @Test
  void blocks_that_were_sealed_while_nothing_was_written_are_deleted() throws Exception {
    try (var log = open(folder, FaultInjector.NONE)) {
      fillSharedBlocks(log);
      awaitUnsealed(log, 0);

      while (storedBlocks("sum(length(data))") > 0) {
        time.advance(Duration.ofSeconds(1));
      }

      append(log, context(0), "again");
      assertThat(log.read(context(0), Position.START, 10)).hasSize(3);
    }
  }

  @Test
  void closing_the_log_seals_all_contexts() {
    Map<ContextId, List<Entry>> entries;
    try (var log = open(folder, FaultInjector.NONE)) {
      fill(log);
      entries = all(log);
    }
    try (var log = open(folder, FaultInjector.NONE)) {
      assertThat(log.unsealedContexts()).isZero();
      assertThat(log.contextsInMemory()).isZero();
      assertThat(all(log)).isEqualTo(entries);
    }
  }
}
