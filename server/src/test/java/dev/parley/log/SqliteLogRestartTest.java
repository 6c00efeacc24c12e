package dev.parley.log;

import static dev.parley.log.EventLogContract.BLOCK;
import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.TASK;
import static dev.parley.log.EventLogContract.checkpoint;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.delta;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.EventLogContract.status;
import static dev.parley.log.EventLogContract.taskCreated;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The SQLite log after it is closed and opened again: what it keeps and what it deletes.
final class SqliteLogRestartTest {

  @TempDir Path folder;

  private static List<Entry> all(EventLog log, ContextId context) {
    return log.read(context, Position.START, Integer.MAX_VALUE);
  }

  @Test
  void a_log_opened_again_after_any_append_is_the_same_log() {
    var random = new Random(7);
    var text = new StringBuilder();
    var expected = new ArrayList<Entry>();
    var log = SqliteLogTest.open(folder);
    log.create(CONTEXT, created());
    log.append(
        CONTEXT, AppendGuard.none(), Decision.always(taskCreated(), status(TaskState.WORKING)));
    for (var i = 0; i < 120; i++) {
      var word = "wörd" + i + (i % 7 == 0 ? "\ud83d\ude00" : " ");
      text.append(word);
      log.append(CONTEXT, AppendGuard.none(), Decision.always(delta(i, word), checkpoint(i)));
      if (random.nextInt(6) == 0) {
        expected = new ArrayList<>(all(log, CONTEXT));
        log.close();
        log = SqliteLogTest.open(folder);
        assertThat(all(log, CONTEXT)).isEqualTo(expected);
        int open = log.inspect(CONTEXT, state -> state.openTasks().size());
        assertThat(open).isEqualTo(1);
        assertThat(log.withOpenTasks()).containsExactly(CONTEXT);
      }
    }
    var end = new ContentComplete(text.toString(), BLOCK, null, null, null, null);
    log.append(CONTEXT, AppendGuard.none(), Decision.always(new EventDraft(TASK, end)));
    expected = new ArrayList<>(all(log, CONTEXT));
    log.close();
    log = SqliteLogTest.open(folder);
    assertThat(all(log, CONTEXT)).isEqualTo(expected);
    assertThat(expected.getLast().event()).isEqualTo(end);
    log.close();
  }

  @Test
  void contexts_that_share_blocks_and_are_sealed_at_different_times_come_back_whole()
      throws InterruptedException {
    var contexts = new ArrayList<ContextId>();
    for (var c = 0; c < 8; c++) {
      contexts.add(new ContextId("c" + c));
    }
    for (var round = 0; round < 15; round++) {
      var expected = new ArrayList<List<Entry>>();
      try (var log = SqliteLogTest.open(folder)) {
        contexts.forEach(context -> log.create(context, created()));
        var threads = new ArrayList<Thread>();
        for (var c = 0; c < contexts.size(); c++) {
          var context = contexts.get(c);
          var count = 1 + (c * 7 + round * 3) % 11;
          threads.add(
              Thread.startVirtualThread(
                  () -> {
                    for (var i = 0; i < count; i++) {
                      log.append(context, AppendGuard.none(), Decision.always(message("m" + i)));
                    }
                  }));
        }
        for (var thread : threads) {
          thread.join();
        }
        contexts.forEach(context -> expected.add(all(log, context)));
      }
      try (var log = SqliteLogTest.open(folder)) {
        for (var c = 0; c < contexts.size(); c++) {
          assertThat(all(log, contexts.get(c))).isEqualTo(expected.get(c));
        }
      }
    }
  }

  @Test
  void keys_outlive_a_restart() {
    var idempotencyKey = new AppendGuard.IdempotencyKey("local", "key", "hash");
    AppendResult first;
    try (var log = SqliteLogTest.open(folder)) {
      log.create(CONTEXT, created());
      first = log.append(CONTEXT, idempotencyKey, Decision.always(message("a")));
    }
    try (var log = SqliteLogTest.open(folder)) {
      assertThat(log.append(CONTEXT, idempotencyKey, Decision.always(message("b"))))
          .isEqualTo(new AppendResult(first.first(), first.last(), true));
    }
  }

  @Test
  void a_half_surrogate_survives_the_store() {
    try (var log = SqliteLogTest.open(folder)) {
      log.create(CONTEXT, created());
      log.append(
          CONTEXT,
          AppendGuard.none(),
          Decision.always(taskCreated(), delta(0, "a\ud83d"), delta(1, "\ude00b")));
    }
    try (var log = SqliteLogTest.open(folder)) {
      assertThat(all(log, CONTEXT))
          .extracting(Entry::event)
          .contains(delta(0, "a\ud83d").event(), delta(1, "\ude00b").event());
    }
  }

  @Test
  void a_second_process_is_told_that_the_folder_is_taken() {
    try (var _ = SqliteLogTest.open(folder)) {
      assertThatThrownBy(() -> SqliteLogTest.open(folder))
          .isInstanceOf(Rejection.Conflict.class)
          .hasMessageContaining("in use by process " + ProcessHandle.current().pid());
    }
    SqliteLogTest.open(folder).close();
  }

  @Test
  void unsealed_data_stays_small_and_blocks_go_when_they_are_sealed() {
    try (var log = SqliteLogTest.open(folder)) {
      for (var c = 0; c < 20; c++) {
        log.create(new ContextId("c" + c), created());
      }
      for (var i = 0; i < 1_000; i++) {
        // One context is ten times slower than the others and must not prevent the deletion of
        // their blocks.
        var context = new ContextId("c" + (i % 10 == 0 ? 0 : 1 + i % 19));
        log.append(
            context,
            AppendGuard.none(),
            Decision.always(message("a" + i), message("b" + i), message("c" + i)));
        assertThat(log.unsealedBytes()).isLessThan(4L * SqliteLogTest.SMALL.unsealedBytes());
      }
    }
  }

  @Test
  void deleting_leaves_no_byte_and_disturbs_nobody() throws IOException, SQLException {
    var other = new ContextId("other");
    var secret = "a-very-secret-sentence";
    try (var log = SqliteLogTest.open(folder)) {
      log.create(CONTEXT, created());
      log.create(other, created());
      for (var i = 0; i < 23; i++) {
        log.append(CONTEXT, AppendGuard.none(), Decision.always(message(secret + i)));
        log.append(other, AppendGuard.none(), Decision.always(message("kept" + i)));
      }
      var kept = all(log, other);
      log.delete(CONTEXT);
      for (var file : files()) {
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
            .as(file.toString())
            .doesNotContain(secret);
      }
      assertThat(all(log, other)).isEqualTo(kept);
    }
    try (var log = SqliteLogTest.open(folder)) {
      assertThatThrownBy(() -> log.head(CONTEXT)).isInstanceOf(Rejection.Gone.class);
      assertThat(all(log, other)).hasSize(24);
    }
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
        var rows = connection.createStatement().executeQuery("PRAGMA integrity_check")) {
      assertThat(rows.next()).isTrue();
      assertThat(rows.getString(1)).isEqualTo("ok");
    }
  }

  @Test
  void a_log_of_a_newer_version_is_left_alone() throws SQLException {
    SqliteLogTest.open(folder).close();
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
        var statement = connection.createStatement()) {
      statement.execute("PRAGMA user_version = 99");
    }
    assertThatThrownBy(() -> SqliteLogTest.open(folder))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("newer");
  }

  private List<Path> files() throws IOException {
    try (var files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().startsWith("log.db")).toList();
    }
  }
}
