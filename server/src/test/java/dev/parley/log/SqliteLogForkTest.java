package dev.parley.log;

import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.TASK;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.delta;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.EventLogContract.status;
import static dev.parley.log.EventLogContract.taskCreated;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Forks in SQLite: the contract, and their storage.
final class SqliteLogForkTest extends ForkContract {

  @TempDir Path folder;

  @Override
  EventLog open() {
    return SqliteLogTest.open(folder);
  }

  private void reopen() {
    log.close();
    log = open();
  }

  private EventLog reopen(FaultInjector faultInjector) {
    log.close();
    var sqliteLogDependencies = TestLogs.in(folder, SqliteLogTest.SMALL);
    log = FaultyStore.open(sqliteLogDependencies, faultInjector);
    return log;
  }

  private long count(String sql) throws SQLException {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"))) {
      return Jdbc.number(connection, sql);
    }
  }

  private long rows() throws SQLException {
    return count(
        "SELECT (SELECT count(*) FROM contexts) + (SELECT count(*) FROM segments)"
            + " + (SELECT count(*) FROM shares) + (SELECT count(*) FROM states)"
            + " + (SELECT count(*) FROM blocks)");
  }

  private String bytes() throws IOException {
    var all = new StringBuilder();
    try (var files = Files.list(folder)) {
      for (var file : files.filter(f -> f.getFileName().toString().startsWith("log.db")).toList()) {
        all.append(Files.readString(file, StandardCharsets.ISO_8859_1));
      }
    }
    return all.toString();
  }

  @Test
  void forks_come_back_after_a_restart_at_any_point() {
    fill(CONTEXT, 60);
    var second = new ContextId("second");
    log.fork(FORK, forked(CONTEXT, 30));
    reopen();
    assertThat(prefix(all(FORK), 30, CONTEXT)).isEqualTo(prefix(all(CONTEXT), 30, CONTEXT));
    for (var i = 0; i < 12; i++) {
      append(FORK, message("own" + i));
      var before = all(FORK);
      reopen();
      assertThat(all(FORK)).isEqualTo(before);
    }
    log.fork(second, forked(FORK, 36));
    var before = all(second);
    log.delete(CONTEXT);
    reopen();
    assertThat(all(second)).isEqualTo(before);
    log.delete(FORK);
    reopen();
    assertThat(all(second)).isEqualTo(before);
    append(second, message("on"));
    assertThat(log.head(second)).isEqualTo(before.getLast().position().nextPublic());
  }

  @Test
  void the_text_of_a_block_that_the_cut_ended_comes_back_from_the_deltas() {
    append(CONTEXT, taskCreated(), status(TaskState.WORKING));
    for (var i = 0; i < 40; i++) {
      append(CONTEXT, delta(i, "w" + i));
    }
    log.fork(FORK, forked(CONTEXT, 30));
    var before = all(FORK);
    log.delete(CONTEXT);
    reopen();
    for (var i = 0; i < 20; i++) {
      append(FORK, message("own" + i));
    }
    reopen();
    assertThat(all(FORK)).startsWith(before.toArray(Entry[]::new));
  }

  @Test
  void a_fork_of_a_hundred_thousand_events_adds_a_few_rows() throws SQLException {
    log.close();
    var sqliteLogDependencies = TestLogs.in(folder);
    log = SqliteLog.open(sqliteLogDependencies);
    append(CONTEXT, taskCreated(), status(TaskState.WORKING));
    for (var batch = 0; batch < 100; batch++) {
      var deltas = new EventDraft[1000];
      for (var i = 0; i < deltas.length; i++) {
        deltas[i] = delta(batch * deltas.length + i, "w");
      }
      append(CONTEXT, deltas);
    }
    append(
        CONTEXT,
        status(TaskState.COMPLETED),
        new EventDraft(TASK, new TaskComplete("", null, null)));
    append(CONTEXT, message("last"));
    var head = log.head(CONTEXT).seq();
    assertThat(count("SELECT count(*) FROM states")).isBetween(10L, 100L);
    var before = rows();

    log.fork(FORK, forked(CONTEXT, head));
    log.fork(new ContextId("middle"), forked(CONTEXT, head / 2));

    assertThat(rows() - before).isLessThan(12);
    assertThat(log.read(FORK, Position.of(head - 1), 10)).hasSize(2);
    assertThat(log.read(new ContextId("middle"), Position.of(head / 2), 10)).hasSize(3);
  }

  @Test
  void what_is_not_shared_goes_with_the_source_and_the_rest_with_the_last_fork()
      throws IOException, SQLException {
    for (var i = 0; i < 20; i++) {
      append(CONTEXT, message("shared-secret-" + i), message("seldom-secret-" + i));
    }
    for (var i = 0; i < 20; i++) {
      append(CONTEXT, message("lonely-secret-" + i));
    }
    var second = new ContextId("second");
    log.fork(FORK, forked(CONTEXT, 41));
    log.fork(second, forked(FORK, 19));
    append(FORK, message("forked-secret"));
    var kept = all(FORK);

    log.delete(CONTEXT);

    assertThat(texts()).noneMatch(text -> text.contains("lonely-secret"));
    assertThat(bytes()).doesNotContain("lonely-secret");
    assertThat(all(FORK)).isEqualTo(kept);

    log.delete(FORK);

    assertThat(texts())
        .anyMatch(text -> text.contains("shared-secret-8"))
        .noneMatch(text -> text.contains("secret-9") || text.contains("forked-secret"));
    assertThat(bytes()).doesNotContain("secret-9", "forked-secret");
    assertThat(all(second)).hasSize(20);

    log.delete(second);

    assertThat(count("SELECT count(*) FROM segments")).isZero();
    assertThat(count("SELECT count(*) FROM shares")).isZero();
    assertThat(count("SELECT count(*) FROM states")).isZero();
    assertThat(bytes()).doesNotContain("-secret");
  }

  /// All text in segments and blocks, unpacked.
  private List<String> texts() throws SQLException {
    var texts = new ArrayList<String>();
    try (var chunkPacker = new ChunkPacker();
        var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
        var statement = connection.createStatement()) {
      for (var table : List.of("segments", "states")) {
        try (var rows = statement.executeQuery("SELECT data FROM " + table)) {
          while (rows.next()) {
            texts.add(
                new String(chunkPacker.unpack(rows.getBytes(1)), StandardCharsets.ISO_8859_1));
          }
        }
      }
      try (var rows = statement.executeQuery("SELECT data FROM blocks")) {
        while (rows.next()) {
          texts.add(new String(rows.getBytes(1), StandardCharsets.ISO_8859_1));
        }
      }
    }
    return texts;
  }

  @Test
  void a_context_that_is_written_at_full_speed_can_be_forked_all_the_while()
      throws InterruptedException {
    append(CONTEXT, taskCreated(), status(TaskState.WORKING));
    var done = new AtomicBoolean();
    var writer =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (var i = 0; !done.get(); i++) {
                    append(CONTEXT, delta(i, "w" + i));
                  }
                });
    try {
      for (var i = 0; i < 60; i++) {
        var head = log.head(CONTEXT).seq();
        var cut = i % 3 == 0 ? head : 1 + head * i / 60;
        var fork = new ContextId("fork-" + i);
        assertThat(log.fork(fork, forked(CONTEXT, cut))).isTrue();
        var shared = prefix(log.read(CONTEXT, Position.START, (int) cut), cut, fork);
        assertThat(log.read(fork, Position.START, (int) cut)).isEqualTo(shared);
        assertThat(eventsAfter(fork, cut).getFirst()).isEqualTo(forked(CONTEXT, cut));
      }
    } finally {
      done.set(true);
      writer.join();
    }
  }

  @Test
  void a_source_that_is_deleted_while_it_is_forked_leaves_whole_forks_or_none()
      throws InterruptedException {
    for (var round = 0; round < 20; round++) {
      var source = new ContextId("source-" + round);
      log.create(source, created());
      fill(source, 20);
      var forks = new ArrayList<Thread>();
      for (var i = 0; i < 4; i++) {
        var fork = new ContextId(source + "-" + i);
        forks.add(
            Thread.startVirtualThread(
                () -> {
                  try {
                    log.fork(fork, forked(source, 10));
                  } catch (Rejection.Gone late) {
                    assertThat(late).hasMessageContaining(source.value());
                  }
                }));
      }
      log.delete(source);
      for (var i = 0; i < 4; i++) {
        forks.get(i).join();
        var fork = new ContextId(source + "-" + i);
        try {
          assertThat(log.read(fork, Position.START, 10)).hasSizeGreaterThan(9);
        } catch (Rejection.NotFound neverWas) {
          assertThat(log.create(fork, created())).isTrue();
          assertThat(all(fork)).hasSize(1);
        }
      }
    }
  }

  @Test
  void a_fork_that_was_not_written_never_was() {
    fill(CONTEXT, 20);
    var broken = new AtomicBoolean();
    var fault =
        new FaultInjector() {
          @Override
          public void beforeCommit() throws SQLException {
            if (broken.get()) {
              throw new SQLException("database or disk is full");
            }
          }
        };
    reopen(fault);
    append(CONTEXT, message("unsealed"));
    var head = log.head(CONTEXT).seq();
    broken.set(true);
    assertThatThrownBy(() -> log.fork(FORK, forked(CONTEXT, head)))
        .isInstanceOf(Rejection.Unavailable.class);
    assertThatThrownBy(() -> log.head(FORK)).isInstanceOf(Rejection.NotFound.class);
    broken.set(false);
    assertThat(log.fork(FORK, forked(CONTEXT, head))).isTrue();
    assertThat(prefix(all(FORK), head, CONTEXT)).isEqualTo(all(CONTEXT));
  }

  @Test
  void a_fork_in_doubt_that_turns_out_durable_is_there_once() {
    fill(CONTEXT, 20);
    var broken = new AtomicBoolean();
    var fault =
        new FaultInjector() {
          @Override
          public void afterCommit() throws SQLException {
            if (broken.getAndSet(false)) {
              throw new SQLException("disk I/O error");
            }
          }
        };
    reopen(fault);
    append(CONTEXT, message("unsealed"));
    var head = log.head(CONTEXT).seq();
    broken.set(true);
    assertThat(log.fork(FORK, forked(CONTEXT, head))).isTrue();
    assertThat(prefix(all(FORK), head, CONTEXT)).isEqualTo(all(CONTEXT));
    reopen();
    assertThat(prefix(all(FORK), head, CONTEXT)).isEqualTo(all(CONTEXT));
    assertThat(log.head(FORK).seq()).isEqualTo(head + 1);
  }
}
