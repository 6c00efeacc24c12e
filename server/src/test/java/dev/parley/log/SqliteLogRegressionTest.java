package dev.parley.log;

import static dev.parley.log.EventLogContract.BLOCK;
import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.TASK;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.delta;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.EventLogContract.taskCreated;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Rare situations that once broke the log, or could have.
@Timeout(value = 60, unit = TimeUnit.SECONDS)
final class SqliteLogRegressionTest {

  @TempDir Path folder;

  private BlockLog open(FaultInjector faultInjector) {
    return FaultyStore.open(TestLogs.in(folder, SqliteLogTest.SMALL), faultInjector);
  }

  private static void appendMessage(EventLog log, String text) {
    log.append(CONTEXT, AppendGuard.none(), Decision.always(message(text)));
  }

  @Test
  void an_event_that_cannot_be_encoded_leaves_no_trace_and_no_used_key() {
    var deep = Json.object();
    var inner = deep;
    for (var i = 0; i < 2_000; i++) {
      inner = inner.putObject("a");
    }
    var idempotencyKey = new AppendGuard.IdempotencyKey("local", "key", "hash");
    var bad = EventDraft.of(new ContextUpdated(null, deep));
    try (var log = open(FaultInjector.NONE)) {
      log.create(CONTEXT, created());
      assertThatThrownBy(() -> log.append(CONTEXT, idempotencyKey, Decision.always(bad)))
          .isInstanceOf(RuntimeException.class);
      assertThat(log.append(CONTEXT, idempotencyKey, Decision.always(message("a"))).replayed())
          .isFalse();
      assertThat(log.read(CONTEXT, Position.START, 10))
          .extracting(e -> e.position().seq())
          .containsExactly(1L, 2L);
    }
  }

  @Test
  void a_bug_in_the_writer_refuses_the_batch_and_the_log_goes_on() {
    var broken = new boolean[] {false};
    FaultInjector bug =
        new FaultInjector() {
          @Override
          public void beforeCommit() {
            if (broken[0]) {
              broken[0] = false;
              throw new IllegalStateException("a bug");
            }
          }
        };
    try (var log = open(bug)) {
      log.create(CONTEXT, created());
      broken[0] = true;
      assertThatThrownBy(() -> appendMessage(log, "lost"))
          .isInstanceOf(Rejection.Unavailable.class);
      appendMessage(log, "kept");
      assertThat(log.read(CONTEXT, Position.START, 10))
          .extracting(Entry::event)
          .containsExactly(created(), message("kept").event());
    }
  }

  @Test
  void a_closed_log_refuses_and_keeps_nobody_waiting() {
    var log = open(FaultInjector.NONE);
    log.create(CONTEXT, created());
    log.close();
    assertThatThrownBy(() -> appendMessage(log, "late")).isInstanceOf(Rejection.Unavailable.class);
  }

  @Test
  void who_waits_when_the_log_is_closed_is_refused() throws InterruptedException {
    var time = new ManualTime();
    var log = SqliteLog.open(TestLogs.in(folder, SqliteLogTest.SMALL, time));
    log.create(CONTEXT, created());
    var head = log.head(CONTEXT);
    var mark = log.changes(0, 10).mark();
    var refused = new ConcurrentLinkedQueue<String>();
    var waits =
        List.<Wait>of(
            () -> log.await(CONTEXT, head, Duration.ofDays(1)),
            () -> log.await(CONTEXT, head, Duration.ofDays(9_000)),
            () -> log.awaitChange(mark, Duration.ofDays(1)));
    var threads = new ArrayList<Thread>();
    for (var wait : waits) {
      threads.add(
          TestLogs.THREADS.startPlatform(
              "waiter-" + threads.size(),
              () -> {
                try {
                  wait.until();
                } catch (Rejection.Unavailable closed) {
                  refused.add(closed.getMessage());
                } catch (InterruptedException notExpected) {
                  Thread.currentThread().interrupt();
                }
              }));
    }
    threads.forEach(thread -> time.awaitWait(thread.getName()));
    log.close();
    for (var thread : threads) {
      thread.join();
    }
    assertThat(refused).hasSize(waits.size()).containsOnly("the log is closed");
    assertThatThrownBy(() -> log.await(CONTEXT, head, Duration.ofDays(1)))
        .isInstanceOf(Rejection.Unavailable.class);
    assertThatThrownBy(() -> log.head(new ContextId("cold")))
        .isInstanceOf(Rejection.Unavailable.class);
  }

  @Test
  void a_context_whose_creation_is_not_durable_yet_is_not_found() throws InterruptedException {
    var gate = new CountDownLatch(1);
    var committing = new CountDownLatch(1);
    FaultInjector slow =
        new FaultInjector() {
          @Override
          public void beforeCommit() {
            committing.countDown();
            try {
              gate.await();
            } catch (InterruptedException ended) {
              Thread.currentThread().interrupt();
            }
          }
        };
    try (var log = open(slow)) {
      var creating = Thread.startVirtualThread(() -> log.create(CONTEXT, created()));
      committing.await();
      try {
        assertThatThrownBy(() -> log.head(CONTEXT)).isInstanceOf(Rejection.NotFound.class);
        assertThatThrownBy(() -> log.owner(CONTEXT)).isInstanceOf(Rejection.NotFound.class);
        assertThatThrownBy(() -> log.read(CONTEXT, Position.START, 1))
            .isInstanceOf(Rejection.NotFound.class);
      } finally {
        gate.countDown();
      }
      creating.join();
      assertThat(log.owner(CONTEXT)).isEqualTo("local");
    }
  }

  private interface Wait {
    boolean until() throws InterruptedException;
  }

  @Test
  void an_append_to_a_context_that_is_not_in_memory_does_not_wait_for_readers_of_the_past()
      throws InterruptedException {
    var cold = new ContextId("cold");
    try (var log = open(FaultInjector.NONE)) {
      log.create(CONTEXT, created());
      log.create(cold, created());
      for (var i = 0; i < 29; i++) {
        log.append(cold, AppendGuard.none(), Decision.always(message("m" + i)));
        appendMessage(log, "m" + i);
      }
      for (var i = 0; i < 30; i++) {
        appendMessage(log, "n" + i);
      }
    }
    var gate = new CountDownLatch(1);
    var reading = new CountDownLatch(2);
    FaultInjector slowPages =
        new FaultInjector() {
          @Override
          public void beforePage() {
            reading.countDown();
            try {
              gate.await();
            } catch (InterruptedException ended) {
              Thread.currentThread().interrupt();
            }
          }
        };
    try (var log = open(slowPages)) {
      assertThat(log.contextsInMemory()).isLessThan(2);
      var readers = new ArrayList<Thread>();
      for (var i = 0; i < 10; i++) {
        readers.add(Thread.startVirtualThread(() -> log.read(CONTEXT, Position.START, 10)));
      }
      reading.await();
      try {
        var writer =
            Thread.startVirtualThread(
                () -> log.append(cold, AppendGuard.none(), Decision.always(message("late"))));
        assertThat(writer.join(Duration.ofSeconds(30))).isTrue();
        assertThat(log.head(cold)).isEqualTo(Position.of(31));
        assertThat(log.changes(0, 10).contexts()).contains(cold);
        assertThat(readers).allMatch(Thread::isAlive);
      } finally {
        gate.countDown();
      }
      for (var reader : readers) {
        reader.join();
      }
    }
  }

  @Test
  void a_creation_in_doubt_that_turns_out_durable_after_a_while_counts_once() throws IOException {
    var file = folder.resolve("log.db");
    var away = folder.resolve("away.db");
    FaultInjector losesSight =
        new FaultInjector() {
          private boolean done;

          @Override
          public void afterCommit() throws SQLException {
            if (!done) {
              done = true;
              try {
                // The store can no longer be opened, because a folder has its name.
                Files.move(file, away);
                Files.createDirectory(file);
              } catch (IOException failed) {
                throw new SQLException(failed);
              }
              throw new SQLException("disk I/O error");
            }
          }
        };
    try (var log = open(losesSight)) {
      assertThatThrownBy(() -> log.create(CONTEXT, created()))
          .isInstanceOf(Rejection.Unavailable.class)
          .hasMessageContaining("not yet known");
      Files.delete(file);
      // It may just have been created again.
      Files.move(away, file, StandardCopyOption.REPLACE_EXISTING);
      while (!log.writable()) {
        Thread.onSpinWait();
      }
      assertThat(log.create(CONTEXT, created())).isFalse();
      appendMessage(log, "next");
      assertThat(log.read(CONTEXT, Position.START, 10))
          .extracting(e -> e.position().seq())
          .containsExactly(1L, 2L);
    }
  }

  @Test
  void contexts_sealed_after_everybody_left_do_not_stay_in_memory() {
    try (var log = open(FaultInjector.NONE)) {
      for (var i = 0; i < 400; i++) {
        var context = new ContextId("c" + i);
        log.create(context, created());
        var messages = IntStream.range(0, 6).mapToObj(m -> message("m" + m));
        log.append(
            context, AppendGuard.none(), Decision.always(messages.toArray(EventDraft[]::new)));
      }
      assertThat(log.contextsInMemory()).isLessThan(150);
    }
  }

  @Test
  void deleting_waits_for_a_reader_of_the_file_and_appends_do_not_wait_for_either()
      throws SQLException, IOException, InterruptedException {
    var secret = "a-very-secret-sentence";
    var other = new ContextId("other");
    try (var log = open(FaultInjector.NONE)) {
      log.create(CONTEXT, created());
      log.create(other, created());
      appendMessage(log, secret);
      Thread deleting;
      try (var reader = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"))) {
        reader.setAutoCommit(false);
        reader.createStatement().executeQuery("SELECT * FROM contexts").next();
        deleting = Thread.ofVirtual().start(() -> log.delete(CONTEXT));
        for (var i = 0; i < 5; i++) {
          log.append(other, AppendGuard.none(), Decision.always(message("m" + i)));
        }
        assertThat(deleting.isAlive()).isTrue();
      }
      deleting.join();
      for (var name : new String[] {"log.db", "log.db-wal"}) {
        assertThat(Files.readString(folder.resolve(name), StandardCharsets.ISO_8859_1))
            .doesNotContain(secret);
      }
    }
  }

  @Test
  void the_end_of_a_block_is_read_back_from_its_own_tasks_deltas() {
    var end = new ContentComplete("one", BLOCK, null, null, null, null);
    var different = new ContentComplete("oen", BLOCK, null, null, null, null);
    try (var log = open(FaultInjector.NONE)) {
      log.create(CONTEXT, created());
      log.append(
          CONTEXT,
          AppendGuard.none(),
          Decision.always(taskCreated(), delta(0, "one"), new EventDraft(TASK, end)));
      log.append(
          CONTEXT,
          AppendGuard.none(),
          Decision.always(delta(0, "one"), new EventDraft(TASK, different)));
    }
    try (var log = open(FaultInjector.NONE)) {
      assertThat(log.read(CONTEXT, Position.START, 10))
          .extracting(Entry::event)
          .contains(end, different);
    }
  }
}
