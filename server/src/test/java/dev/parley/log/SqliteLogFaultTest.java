package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Tests failures of the store: the caller gets an error, no reader sees events that are not
/// durable, and the log continues when the fault ends.
final class SqliteLogFaultTest {

  private static final List<ContextId> FOUR =
      Stream.of("c0", "c1", "c2", "c3").map(ContextId::new).toList();

  @TempDir Path folder;

  private BlockLog open(FaultInjector faultInjector) {
    return FaultyStore.open(TestLogs.in(folder, SqliteLogTest.SMALL), faultInjector);
  }

  /// Fails on request.
  private static final class SwitchableFault implements FaultInjector {
    volatile boolean before;
    volatile boolean after;

    @Override
    public void beforeCommit() throws SQLException {
      if (before) {
        throw new SQLException("database or disk is full");
      }
    }

    @Override
    public void afterCommit() throws SQLException {
      if (after) {
        after = false;
        throw new SQLException("disk I/O error");
      }
    }
  }

  @Test
  void an_append_that_was_not_written_is_refused_and_never_seen() {
    var fault = new SwitchableFault();
    try (var log = open(fault)) {
      log.create(CONTEXT, created());
      fault.before = true;
      assertThatThrownBy(
              () -> log.append(CONTEXT, AppendGuard.none(), Decision.always(message("lost"))))
          .isInstanceOf(Rejection.Unavailable.class);
      assertThat(log.head(CONTEXT)).isEqualTo(Position.of(1));
      fault.before = false;
      log.append(CONTEXT, AppendGuard.none(), Decision.always(message("kept")));
      assertThat(log.head(CONTEXT)).isEqualTo(Position.of(2));
    }
    try (var log = open(FaultInjector.NONE)) {
      assertThat(log.read(CONTEXT, Position.START, 10))
          .extracting(Entry::event)
          .containsExactly(created(), message("kept").event());
    }
  }

  @Test
  void an_append_in_doubt_that_turns_out_durable_is_acknowledged_once() {
    var fault = new SwitchableFault();
    try (var log = open(fault)) {
      log.create(CONTEXT, created());
      fault.after = true;
      var appendResult = log.append(CONTEXT, AppendGuard.none(), Decision.always(message("kept")));
      assertThat(appendResult.last()).isEqualTo(Position.of(2));
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(2);
    }
  }

  /// After a failed sync, a readable block may be in memory only. It must be written again, which a
  /// reader of an older state prevents.
  @Test
  void an_append_in_doubt_is_seen_only_when_it_was_written_to_the_disk_once_more()
      throws SQLException {
    var fault = new SwitchableFault();
    var time = new ManualTime();
    try (var log = FaultyStore.open(TestLogs.in(folder, SqliteLogTest.SMALL, time), fault)) {
      log.create(CONTEXT, created());
      try (var reader = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"))) {
        reader.setAutoCommit(false);
        reader.createStatement().executeQuery("SELECT * FROM contexts").next();
        fault.after = true;
        var append =
            CompletableFuture.runAsync(
                () ->
                    log.append(CONTEXT, AppendGuard.none(), Decision.always(message("unsynced"))));
        while (fault.after) {
          Thread.onSpinWait(); // Otherwise a commit that seals the idle context may get the fault.
        }
        while (!append.isDone()) {
          time.advanceToWait("parley-log-writer");
        }
        assertThatThrownBy(append::join)
            .hasCauseInstanceOf(Rejection.Unavailable.class)
            .hasMessageContaining("not yet known");
        assertThat(log.writable()).isFalse();
        assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(1);
      }
      while (!log.writable()) {
        time.advance(Duration.ofSeconds(1));
        Thread.onSpinWait();
      }
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(2);
    }
  }

  @Test
  void one_context_that_cannot_be_sealed_refuses_no_append_and_keeps_no_other_from_being_sealed()
      throws SQLException {
    var bad = new ContextId("c1");
    FaultInjector faultInjector =
        new FaultInjector() {
          @Override
          public void beforeSeal(ContextId context) {
            if (context.equals(bad)) {
              throw new IllegalStateException("a state that cannot be saved");
            }
          }
        };
    // Enough unsealed data that several contexts are sealed at once.
    try (var log = open(faultInjector)) {
      for (var i = 0; i < 40; i++) {
        var context = new ContextId("c" + i % 8);
        log.create(context, created());
        log.append(context, AppendGuard.none(), Decision.always(message("x".repeat(100) + i)));
      }
      for (var i = 0; i < 200; i++) {
        log.append(
            new ContextId("c" + i % 8),
            AppendGuard.none(),
            Decision.always(message("y".repeat(90) + i)));
      }
      try (var other = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
          var statement = other.createStatement();
          var rows = statement.executeQuery("SELECT id FROM contexts WHERE sealed = 0")) {
        var unsealed = new ArrayList<String>();
        while (rows.next()) {
          unsealed.add(rows.getString(1));
        }
        assertThat(unsealed).containsExactly(bad.value());
      }
    }
  }

  @Test
  void a_context_whose_creation_failed_does_not_exist_and_can_be_created() {
    var fault = new SwitchableFault();
    try (var log = open(fault)) {
      fault.before = true;
      assertThatThrownBy(() -> log.create(CONTEXT, created()))
          .isInstanceOf(Rejection.Unavailable.class);
      assertThatThrownBy(() -> log.head(CONTEXT)).isInstanceOf(Rejection.NotFound.class);
      fault.before = false;
      assertThat(log.create(CONTEXT, created())).isTrue();
    }
  }

  @Test
  void a_key_whose_append_failed_can_be_used_again() {
    var fault = new SwitchableFault();
    var idempotencyKey = new AppendGuard.IdempotencyKey("local", "key", "hash");
    try (var log = open(fault)) {
      log.create(CONTEXT, created());
      fault.before = true;
      assertThatThrownBy(() -> log.append(CONTEXT, idempotencyKey, Decision.always(message("a"))))
          .isInstanceOf(Rejection.Unavailable.class);
      fault.before = false;
      assertThat(log.append(CONTEXT, idempotencyKey, Decision.always(message("a"))).replayed())
          .isFalse();
      assertThat(log.append(CONTEXT, idempotencyKey, Decision.always(message("a"))).replayed())
          .isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6})
  void under_random_faults_what_was_acknowledged_is_exactly_what_is_there(int seed)
      throws InterruptedException {
    var random = new Random(seed);
    var commits = new AtomicInteger();
    FaultInjector flaky =
        new FaultInjector() {
          @Override
          public void beforeCommit() throws SQLException {
            if (commits.incrementAndGet() % 5 == 0) {
              throw new SQLException("database or disk is full");
            }
          }

          @Override
          public void afterCommit() throws SQLException {
            if (random.nextInt(6) == 0) {
              throw new SQLException("disk I/O error");
            }
          }
        };
    var acknowledged = Collections.synchronizedSet(new HashSet<String>());
    Set<String> visible;
    try (var log = open(flaky)) {
      createDespiteFaults(log, "c0", "c1", "c2");
      var threads = new ArrayList<Thread>();
      for (var t = 0; t < 12; t++) {
        var name = "t" + t + "-";
        var context = new ContextId("c" + t % 3);
        threads.add(
            Thread.startVirtualThread(
                () -> {
                  for (var i = 0; i < 60; i++) {
                    try {
                      log.append(context, AppendGuard.none(), Decision.always(message(name + i)));
                      acknowledged.add(name + i);
                    } catch (Rejection.Unavailable refused) {
                      assertThat(refused).hasMessageContaining("store");
                    }
                  }
                }));
      }
      for (var thread : threads) {
        thread.join();
      }
      visible = messages(log);
    }
    assertThat(visible).containsAll(acknowledged);
    try (var log = open(FaultInjector.NONE)) {
      assertThat(messages(log)).isEqualTo(visible);
      assertThat(acknowledged).isEqualTo(visible);
    }
  }

  /// The commit is durable when listeners are called, so it must not be made visible again.
  @Test
  void a_listener_that_throws_changes_nothing_for_the_log() throws InterruptedException {
    var undisturbed = appendRounds(folder.resolve("undisturbed"), false);
    var disturbed = appendRounds(folder.resolve("disturbed"), true);

    assertThat(disturbed).isEqualTo(undisturbed);
    try (var log = SqliteLog.open(TestLogs.in(folder.resolve("disturbed"), SqliteLogTest.SMALL))) {
      assertThat(events(log)).isEqualTo(undisturbed);
    }
  }

  /// Appends to four contexts at once, until each is sealed several times. Returns all events.
  private static List<List<Event>> appendRounds(Path folder, boolean listenerThrows)
      throws InterruptedException {
    try (var log = SqliteLog.open(TestLogs.in(folder, SqliteLogTest.SMALL))) {
      for (var context : FOUR) {
        log.create(context, created());
      }
      var registrations = new ArrayList<EventLog.ChangeRegistration>();
      if (listenerThrows) {
        registrations.add(log.listen(FOUR.getFirst(), SqliteLogFaultTest::failToListen));
      }
      for (var i = 0; i < 40; i++) {
        var draft = message("text" + i);
        var threads = new ArrayList<Thread>();
        for (var context : FOUR) {
          threads.add(
              Thread.startVirtualThread(
                  () -> log.append(context, AppendGuard.none(), Decision.always(draft))));
        }
        for (var thread : threads) {
          thread.join();
        }
      }
      assertThat(log.writable()).isTrue();
      var events = events(log);
      registrations.forEach(EventLog.ChangeRegistration::close);
      return events;
    }
  }

  private static void failToListen() {
    throw new IllegalStateException("a listener failed");
  }

  private static List<List<Event>> events(EventLog log) {
    return FOUR.stream()
        .map(context -> log.read(context, Position.START, 1_000))
        .map(entries -> entries.stream().map(Entry::event).toList())
        .toList();
  }

  @Test
  void a_file_locked_by_somebody_else_is_waited_for_or_refused_and_nothing_is_lost()
      throws SQLException {
    try (var log = open(FaultInjector.NONE)) {
      log.create(CONTEXT, created());
      try (var other = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
          var statement = other.createStatement()) {
        statement.execute("BEGIN IMMEDIATE");
        assertThatThrownBy(
                () -> log.append(CONTEXT, AppendGuard.none(), Decision.always(message("a"))))
            .isInstanceOf(Rejection.Unavailable.class);
        assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(1);
        assertThat(log.outage()).isPresent();
        statement.execute("ROLLBACK");
      }
      while (!log.writable()) {
        Thread.onSpinWait();
      }
      log.append(CONTEXT, AppendGuard.none(), Decision.always(message("b")));
      assertThat(log.read(CONTEXT, Position.START, 10)).hasSize(2);
    }
  }

  private static void createDespiteFaults(EventLog log, String... names) {
    for (var name : names) {
      while (true) {
        try {
          log.create(new ContextId(name), created());
          break;
        } catch (Rejection.Unavailable again) {
          assertThat(again).hasMessageContaining("store");
        }
      }
    }
  }

  private static Set<String> messages(EventLog log) {
    var found = new HashSet<String>();
    for (var name : new String[] {"c0", "c1", "c2"}) {
      var entries = log.read(new ContextId(name), Position.START, Integer.MAX_VALUE);
      assertThat(entries)
          .extracting(e -> e.position().seq())
          .containsExactlyElementsOf(LongStream.rangeClosed(1, entries.size()).boxed().toList());
      for (var entry : entries) {
        if (entry.event() instanceof Message message) {
          assertThat(found.add(message.content())).isTrue();
        }
      }
    }
    return found;
  }

  @Test
  void a_context_whose_creation_was_lost_cannot_be_deleted() throws Exception {
    var writing = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    FaultInjector once =
        new FaultInjector() {
          private boolean failed;

          @Override
          public void beforeCommit() throws SQLException {
            if (!failed) {
              failed = true;
              writing.countDown();
              awaitUninterruptibly(release);
              throw new SQLException("database or disk is full");
            }
          }
        };
    try (var log = open(once)) {
      var creation = CompletableFuture.runAsync(() -> log.create(CONTEXT, created()));
      writing.await();
      var deleting = new CompletableFuture<Throwable>();
      var deleter =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      log.delete(CONTEXT);
                      deleting.completeExceptionally(new AssertionError("deleted"));
                    } catch (Rejection rejection) {
                      deleting.complete(rejection);
                    }
                  });
      while (deleter.getState() != Thread.State.WAITING && deleter.isAlive()) {
        Thread.onSpinWait();
      }
      release.countDown();

      assertThat(deleting.get()).isInstanceOf(Rejection.NotFound.class);
      assertThatThrownBy(creation::join).hasCauseInstanceOf(Rejection.Unavailable.class);
      assertThat(log.create(CONTEXT, created())).isTrue();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
