package dev.parley.log;

import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.delta;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.EventLogContract.taskCreated;
import static dev.parley.log.ForkContract.data;
import static dev.parley.log.ForkContract.forked;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.encryption.MasterKeyFile;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What a stolen, changed or restored file of an encrypted log reveals.
final class SqliteLogEncryptionTest {

  private static final String SECRET = "the-marker-that-nobody-may-read";
  private static final ContextId ONE = new ContextId("one");
  private static final ContextId TWO = new ContextId("two");
  private static final ContextId FORK = new ContextId("fork");

  /// All values that hold content, and a condition for rows that have one.
  private static final List<String> CONTENT =
      List.of(
          "SELECT data FROM segments",
          "SELECT data FROM states",
          "SELECT data FROM artifact_heads",
          "SELECT state FROM contexts WHERE state IS NOT NULL");

  @TempDir Path folder;
  private Path written;

  @BeforeEach
  void chooseFolder() {
    written = folder.resolve("data");
  }

  private BlockLog open() {
    return open(written, TestLogs.encryption(folder));
  }

  private static BlockLog open(Path data, LogEncryption encryption) {
    return SqliteLog.open(TestLogs.in(data, SqliteLogTest.SMALL, encryption));
  }

  /// Fills a context with content of all kinds, enough for segments and kept states.
  private static void fill(BlockLog log, ContextId context) {
    log.create(context, created());
    append(log, context, taskCreated(), message(SECRET));
    for (var i = 0; i < 60; i++) {
      append(log, context, delta(i, SECRET), data(SECRET, i));
    }
    log.append(
        context,
        new AppendGuard.IdempotencyKey("local", SECRET, SECRET),
        Decision.always(message("keyed")));
  }

  private static void append(BlockLog log, ContextId context, EventDraft... drafts) {
    log.append(context, AppendGuard.none(), Decision.always(drafts));
  }

  private static List<Event> events(EventLog log, ContextId context) {
    return log.read(context, Position.START, 10_000).stream().map(Entry::event).toList();
  }

  private Connection database() throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + written.resolve("log.db"));
  }

  private void execute(String sql) throws SQLException {
    try (var connection = database()) {
      Jdbc.execute(connection, sql);
    }
  }

  private void assertNoSecret() throws IOException {
    try (var files = Files.list(written)) {
      for (var file : files.toList()) {
        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
            .as(file.toString())
            .doesNotContain(SECRET);
      }
    }
  }

  @Test
  void no_file_contains_content_while_the_log_is_open_and_after() throws Exception {
    try (var log = open()) {
      fill(log, ONE);
      log.fork(FORK, forked(ONE, 50), List.of());
      append(log, FORK, message(SECRET));
      assertNoSecret();
    }
    assertNoSecret();
    try (var connection = database()) {
      for (var values : CONTENT) {
        var found = Jdbc.list(connection, values, row -> row.getBytes(1)[0]);
        assertThat(found).as(values).isNotEmpty().containsOnly((byte) 0xE1);
      }
    }
    // The same content without encryption, to show that the search would find it.
    written = folder.resolve("plain");
    try (var log = open(written, LogEncryption.none())) {
      fill(log, ONE);
    }
    assertThatThrownBy(this::assertNoSecret).isInstanceOf(AssertionError.class);
  }

  @Test
  void a_log_is_opened_with_its_master_key_only() throws Exception {
    List<Event> before;
    try (var log = open()) {
      fill(log, ONE);
      before = events(log, ONE);
    }
    assertThatThrownBy(() -> open(written, LogEncryption.none()))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("set encryption.masterKey");
    var other = TestLogs.encryption(Files.createDirectory(folder.resolve("other")));
    assertThatThrownBy(() -> open(written, other))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("does not fit the stored keys");
    var key = folder.resolve("master.key");
    Files.move(key, folder.resolve("kept"));
    var missing = LogEncryption.with(new MasterKeyFile(key));
    assertThatThrownBy(() -> open(written, missing))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("the file with the master key is missing");

    Files.move(folder.resolve("kept"), key);
    try (var log = open()) {
      assertThat(events(log, ONE)).isEqualTo(before);
    }
  }

  @Test
  void idempotency_keys_are_found_again_after_a_restart() {
    try (var log = open()) {
      fill(log, ONE);
    }
    try (var log = open()) {
      var head = log.head(ONE);
      var again = new AppendGuard.IdempotencyKey("local", SECRET, SECRET);
      assertThat(log.append(ONE, again, Decision.always(message("again"))).replayed()).isTrue();
      assertThat(log.head(ONE)).isEqualTo(head);
      var reused = new AppendGuard.IdempotencyKey("local", SECRET, "another body");
      assertThatThrownBy(() -> log.append(ONE, reused, Decision.always(message("again"))))
          .isInstanceOf(Rejection.Conflict.class);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // A bit is changed.
        "UPDATE segments SET data = substr(data, 1, 20) || x'00' || substr(data, 22)",
        "UPDATE contexts SET state = substr(state, 1, 20) || x'00' || substr(state, 22)",
        "UPDATE artifact_heads SET data = substr(data, 1, 20) || x'00' || substr(data, 22)",
        "UPDATE contexts SET data_key = substr(data_key, 1, 30) || x'00' || substr(data_key, 32)",
        // The end is missing.
        "UPDATE segments SET data = substr(data, 1, length(data) - 1)",
        "UPDATE contexts SET state = substr(state, 1, 25)",
        "UPDATE contexts SET data_key = x'00'",
        // A value is moved.
        """
        UPDATE segments SET data = (SELECT o.data FROM segments o WHERE o.context <> segments.context
          AND o.last = segments.last)
        """,
        """
        UPDATE segments SET data = (SELECT o.data FROM segments o
          WHERE o.context = segments.context AND o.last > segments.last ORDER BY o.last LIMIT 1)
          WHERE last = (SELECT min(last) FROM segments)
        """,
        "UPDATE contexts SET state = (SELECT o.state FROM contexts o WHERE o.id <> contexts.id)",
        "UPDATE contexts SET data_key = (SELECT o.data_key FROM contexts o WHERE o.id <> contexts.id)",
        "UPDATE contexts SET sealed = sealed + 1",
        // A value is not encrypted, or the key is missing.
        "UPDATE segments SET data = x'0001000000'",
        "UPDATE contexts SET state = '{}'",
        "UPDATE contexts SET data_key = NULL"
      })
  void a_changed_row_makes_the_context_damaged(String change) throws Exception {
    List<Event> before;
    try (var log = open()) {
      fill(log, ONE);
      fill(log, TWO);
      before = events(log, TWO);
    }
    execute(change);

    try (var log = open()) {
      assertThatThrownBy(() -> events(log, ONE)).isInstanceOf(Rejection.Damaged.class);
      try {
        // The other one may have its own value again, but never wrong text.
        assertThat(events(log, TWO)).isEqualTo(before);
      } catch (Rejection.Damaged changed) {
        assertThat(changed).hasMessageContaining("two");
      }
      log.delete(ONE);
      assertThatThrownBy(() -> log.head(ONE)).isInstanceOf(Rejection.Gone.class);
      log.create(new ContextId("new"), created());
    }
  }

  @Test
  void contexts_whose_ids_were_exchanged_are_damaged() throws Exception {
    try (var log = open()) {
      fill(log, ONE);
      fill(log, TWO);
    }
    execute("UPDATE contexts SET id = 'aside' WHERE id = 'one'");
    execute("UPDATE contexts SET id = 'one' WHERE id = 'two'");
    execute("UPDATE contexts SET id = 'two' WHERE id = 'aside'");

    try (var log = open()) {
      assertThatThrownBy(() -> events(log, ONE)).isInstanceOf(Rejection.Damaged.class);
    }
  }

  @Test
  void unsealed_entries_that_were_changed_or_reordered_are_damaged() throws Exception {
    var crashed = folder.resolve("crashed");
    try (var log = open()) {
      IntStream.range(0, 2).forEach(i -> log.create(List.of(ONE, TWO).get(i), created()));
      append(log, ONE, message("first"));
      append(log, ONE, message("second"));
      append(log, TWO, message("third"));
      TestLogs.copy(written, crashed);
    }
    written = crashed;
    // The block with the first message of the first context gets the content of the next block.
    execute(
        """
        UPDATE blocks SET data = (SELECT o.data FROM blocks o WHERE o.id = blocks.id + 1)
          WHERE id = (SELECT min(id) + 2 FROM blocks)
        """);

    try (var log = open()) {
      assertThatThrownBy(() -> events(log, ONE)).isInstanceOf(Rejection.Damaged.class);
      assertThat(events(log, TWO)).hasSize(2);
    }
  }

  @Test
  void a_fork_stays_readable_when_its_source_is_deleted() throws Exception {
    List<Event> shared;
    try (var log = open()) {
      fill(log, ONE);
      log.fork(FORK, forked(ONE, 50), List.of());
      append(log, FORK, message("own"));
      shared = events(log, FORK);
      log.delete(ONE);
      assertThat(events(log, FORK)).isEqualTo(shared);
    }
    try (var log = open()) {
      assertThat(events(log, FORK)).isEqualTo(shared);
      log.delete(FORK);
    }
    try (var connection = database()) {
      // With the last fork, the key of the source is destroyed, too.
      assertThat(Jdbc.number(connection, "SELECT count(data_key) FROM contexts")).isZero();
    }
  }

  @Test
  void a_log_that_was_not_encrypted_continues() {
    List<Event> before;
    try (var log = open(written, LogEncryption.none())) {
      fill(log, ONE);
      before = events(log, ONE);
    }
    try (var log = open()) {
      assertThat(events(log, ONE)).isEqualTo(before);
      append(log, ONE, message("more"));
      log.fork(FORK, forked(ONE, 50), List.of());
      fill(log, TWO);
    }
    try (var log = open()) {
      assertThat(events(log, ONE)).hasSize(before.size() + 1);
      assertThat(events(log, FORK)).isNotEmpty();
      assertThat(events(log, TWO)).hasSize(before.size());
    }
  }

  @Test
  void a_migration_encrypts_everything_that_was_not() throws Exception {
    var crashed = folder.resolve("crashed");
    List<Event> before;
    List<Event> shared;
    try (var log = open(written, LogEncryption.none())) {
      fill(log, ONE);
      fill(log, TWO);
      log.fork(FORK, forked(ONE, 50), List.of());
      before = events(log, TWO);
      shared = events(log, FORK);
      log.delete(ONE);
      // Some entries are in blocks, as a crash leaves them.
      TestLogs.copy(written, crashed);
    }
    written = crashed;
    var encryption = TestLogs.encryption(folder);

    assertThat(EncryptionMigration.encrypt(written, encryption, _ -> {})).isEqualTo(3);
    assertThat(EncryptionMigration.encrypt(written, encryption, _ -> {})).isZero();

    assertNoSecret();
    try (var log = open()) {
      assertThat(events(log, TWO)).isEqualTo(before);
      assertThat(events(log, FORK)).isEqualTo(shared);
      var again = new AppendGuard.IdempotencyKey("local", SECRET, SECRET);
      assertThat(log.append(TWO, again, Decision.always(message("again"))).replayed()).isTrue();
      append(log, TWO, data(SECRET, 61));
      assertThat(log.encryption().orElseThrow().unencrypted()).isZero();
    }
    assertNoSecret();
  }

  @Test
  void an_encrypted_log_moves_to_postgresql_and_back() throws Exception {
    List<Event> before;
    try (var log = open()) {
      fill(log, ONE);
      before = events(log, ONE);
    }
    var database = TestPostgres.database(TestPostgres.createDatabase());
    LogTransfer.toDatabase(written, database, _ -> {});
    written = folder.resolve("back");
    LogTransfer.toFolder(database, written, _ -> {});
    assertNoSecret();
    try (var log = open()) {
      assertThat(events(log, ONE)).isEqualTo(before);
    }
  }

  @Test
  void a_log_is_encrypted_in_postgresql() throws Exception {
    List<Event> before;
    try (var log = open(written, LogEncryption.none())) {
      fill(log, ONE);
      before = events(log, ONE);
    }
    var address = TestPostgres.createDatabase();
    var database = TestPostgres.database(address);
    LogTransfer.toDatabase(written, database, _ -> {});
    assertThat(EncryptionMigration.encrypt(database, TestLogs.encryption(folder), _ -> {}))
        .isEqualTo(1);
    written = folder.resolve("back");
    LogTransfer.toFolder(database, written, _ -> {});
    assertNoSecret();
    try (var log = TestPostgres.open(address, TestLogs.encryption(folder))) {
      assertThat(events(log, ONE)).isEqualTo(before);
      append(log, ONE, message("more"));
    }
    assertThatThrownBy(
            () -> EncryptionMigration.encrypt(database, TestLogs.encryption(folder), _ -> {}))
        .isInstanceOf(Rejection.Conflict.class)
        .hasMessageContaining("stop all servers first");
  }
}
