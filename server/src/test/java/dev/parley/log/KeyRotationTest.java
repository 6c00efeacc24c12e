package dev.parley.log;

import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.ForkContract.forked;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.encryption.ContentCipher.UndecryptableException;
import dev.parley.encryption.KeyRing;
import dev.parley.encryption.MasterKeyFile;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.EncryptionView;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Keys are wrapped again, and a context that was deleted before is gone from older backups.
final class KeyRotationTest {

  private static final ContextId DELETED = new ContextId("deleted");
  private static final ContextId KEPT = new ContextId("kept");
  private static final ContextId LATER = new ContextId("later");
  private static final String SECRET = "the-marker-that-must-be-gone";

  @TempDir Path folder;

  private BlockLog open(String data) {
    return SqliteLog.open(
        TestLogs.in(folder.resolve(data), SqliteLogTest.SMALL, TestLogs.encryption(folder)));
  }

  private static void append(BlockLog log, ContextId context, String text) {
    log.append(context, AppendGuard.none(), Decision.always(message(text)));
  }

  private static void fill(BlockLog log) {
    for (var context : List.of(DELETED, KEPT)) {
      log.create(context, created());
      for (var i = 0; i < 20; i++) {
        append(log, context, SECRET + i);
      }
    }
  }

  private static List<Event> events(EventLog log, ContextId context) {
    return log.read(context, Position.START, 10_000).stream().map(Entry::event).toList();
  }

  /// Adds a version of the master key, wraps all keys with it, and destroys the previous version.
  private void rotateMasterKey(BlockLog log) throws IOException {
    var file = folder.resolve("master.key");
    var previous = Files.readString(file);
    var next = MasterKeyFile.newLine() + "\n";
    Files.writeString(file, next + previous);
    rotate(log);
    Files.writeString(file, next);
  }

  private static void rotate(BlockLog log) {
    log.rotateKeys();
    while (status(log).rotating()) {
      Thread.onSpinWait();
    }
  }

  private static EncryptionView status(EventLog log) {
    return log.encryption().orElseThrow();
  }

  private Connection database(String data) throws SQLException {
    return DriverManager.getConnection("jdbc:sqlite:" + folder.resolve(data).resolve("log.db"));
  }

  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record StoredKey(long number, byte[] wrapped) {}

  private static StoredKey keyOf(Connection connection, ContextId context) throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT number, data_key FROM contexts WHERE id = ?",
            row -> new StoredKey(row.getLong(1), row.getBytes(2)),
            context.value())
        .getFirst();
  }

  private static List<byte[]> wrappingKeys(Connection connection) throws SQLException {
    return Jdbc.list(connection, "SELECT wrapped FROM wrapping_keys", row -> row.getBytes(1));
  }

  /// Tries to unwrap the key of a context in `backup` with all wrapping keys in both databases.
  private boolean canRead(Connection backup, Connection current, ContextId context)
      throws SQLException {
    var all = new ArrayList<>(wrappingKeys(backup));
    all.addAll(wrappingKeys(current));
    var key = keyOf(backup, context);
    for (var wrapped : all) {
      try {
        var ring = new KeyRing();
        var id = KeyRing.wrappingKeyOf(key.wrapped());
        ring.update(Map.of(id, wrapped), TestLogs.masterKey(folder)::unwrap);
        var _ = ring.unwrap(key.wrapped(), key.number(), context.value());
        return true;
      } catch (UndecryptableException | Rejection.Unavailable useless) {
        // The next one.
      }
    }
    return false;
  }

  @Test
  void a_deleted_context_is_gone_from_an_older_backup_and_the_others_are_restored()
      throws Exception {
    var backup = Files.createDirectory(folder.resolve("backup"));
    var keys = folder.resolve("keys");
    List<Event> kept;
    try (var log = open("data")) {
      fill(log);
      kept = events(log, KEPT);
      log.fork(new ContextId("fork"), forked(KEPT, 10), List.of());
    }
    DatabaseBackup.copy(folder.resolve("data/log.db"), backup.resolve("log.db"), true);
    try (var log = open("data");
        var old = database("backup");
        var current = database("data")) {
      log.delete(DELETED);
      // Until the rotation, someone with the master key can read it in the backup.
      assertThat(canRead(old, current, DELETED)).isTrue();
      rotateMasterKey(log);
      assertThat(status(log)).isEqualTo(new EncryptionView(true, 2, 0, false, 0));
      log.create(LATER, created());
      assertThat(canRead(old, current, DELETED)).isFalse();
      assertThat(canRead(old, current, KEPT)).isFalse();
      KeyCopy.save(folder.resolve("data"), keys);
    }
    assertThatThrownBy(() -> open("backup"))
        .isInstanceOf(Rejection.Unavailable.class)
        .hasMessageContaining("does not fit the stored keys");

    assertThat(KeyCopy.restore(keys, backup)).isEqualTo(new KeyCopy.RestoredKeys(2, 1));

    try (var log = open("backup")) {
      assertThat(events(log, KEPT)).isEqualTo(kept);
      assertThat(events(log, new ContextId("fork"))).hasSize(11);
      assertThatThrownBy(() -> log.head(DELETED)).isInstanceOf(Rejection.Gone.class);
      append(log, KEPT, "more");
    }
    assertThat(Files.readString(backup.resolve("log.db"), StandardCharsets.ISO_8859_1))
        .doesNotContain(SECRET);
  }

  @Test
  void contexts_work_during_a_rotation_and_after_a_restart() throws Exception {
    try (var log = open("data")) {
      for (var i = 0; i < 200; i++) {
        log.create(new ContextId("context-" + i), created());
      }
      log.rotateKeys();
      for (var i = 0; i < 200; i++) {
        append(log, new ContextId("context-" + i), "during");
      }
      while (status(log).rotating()) {
        Thread.onSpinWait();
      }
    }
    try (var log = open("data");
        var connection = database("data")) {
      assertThat(wrappingKeys(connection)).hasSize(1);
      for (var i = 0; i < 200; i++) {
        assertThat(events(log, new ContextId("context-" + i))).hasSize(2);
      }
    }
  }

  @Test
  void an_interrupted_rotation_is_finished_by_the_next_start() throws Exception {
    try (var log = open("data")) {
      fill(log);
    }
    // Another process stored a new key, and ended.
    try (var connection = database("data")) {
      var encryption = TestLogs.encryption(folder);
      LogEncryption.add(connection, encryption.newWrappingKey());
    }
    try (var log = open("data");
        var connection = database("data")) {
      while (status(log).rotating()) {
        Thread.onSpinWait();
      }
      assertThat(wrappingKeys(connection)).hasSize(1);
      assertThat(KeyRing.wrappingKeyOf(keyOf(connection, KEPT).wrapped())).isEqualTo(2);
      assertThat(events(log, KEPT)).hasSize(21);
    }
  }

  @Test
  void a_rotation_survives_failed_commits() throws Exception {
    var fails = new AtomicInteger();
    var faults =
        new FaultInjector() {
          @Override
          public void afterCommit() throws SQLException {
            if (fails.getAndDecrement() > 0) {
              throw new SQLException("disk I/O error");
            }
          }
        };
    var dependencies =
        TestLogs.in(folder.resolve("data"), SqliteLogTest.SMALL, TestLogs.encryption(folder));
    try (var log = FaultyStore.open(dependencies, faults)) {
      fill(log);
      fails.set(2);
      rotate(log);
      log.create(LATER, created());
      assertThat(events(log, KEPT)).hasSize(21);
    }
    try (var log = open("data")) {
      assertThat(events(log, KEPT)).hasSize(21);
      assertThat(events(log, LATER)).hasSize(1);
    }
  }

  @Test
  void a_key_that_is_damaged_keeps_the_earlier_wrapping_key() throws Exception {
    try (var log = open("data")) {
      fill(log);
    }
    try (var connection = database("data")) {
      Jdbc.update(
          connection, "UPDATE contexts SET data_key = x'0000000000000001E1' WHERE number = 1");
    }
    try (var log = open("data");
        var connection = database("data")) {
      rotate(log);
      assertThat(status(log).failed()).isEqualTo(1);
      assertThat(wrappingKeys(connection)).hasSize(2);
      assertThat(events(log, KEPT)).hasSize(21);
    }
  }

  @Test
  void a_log_that_is_not_encrypted_has_no_keys_to_rotate() {
    try (var log = SqliteLogTest.open(folder.resolve("plain"))) {
      log.create(KEPT, created());
      assertThat(status(log)).isEqualTo(new EncryptionView(false, 0, 1, false, 0));
      assertThatThrownBy(log::rotateKeys)
          .isInstanceOf(Rejection.Invalid.class)
          .hasMessageContaining("encryption is not configured");
    }
  }

  @Test
  void in_postgresql_a_deleted_context_is_gone_from_a_copy_of_the_database() throws Exception {
    var address = TestPostgres.createDatabase();
    var encryption = TestLogs.encryption(folder);
    List<Event> kept;
    try (var log = TestPostgres.open(address, encryption)) {
      fill(log);
      kept = events(log, KEPT);
    }
    var copy = TestPostgres.copyDatabase(address);
    try (var log = TestPostgres.open(address, encryption);
        var old = TestPostgres.database(copy).connect();
        var current = TestPostgres.database(address).connect()) {
      log.delete(DELETED);
      assertThat(canRead(old, current, DELETED)).isTrue();
      rotateMasterKey(log);
      assertThat(canRead(old, current, DELETED)).isFalse();
      KeyCopy.save(TestPostgres.database(address), folder.resolve("keys"));
    }
    var restored = TestPostgres.database(copy);
    assertThatThrownBy(() -> KeyCopy.restore(folder.resolve("keys"), restored))
        .isInstanceOf(Rejection.Conflict.class)
        .hasMessageContaining("stop all servers first");
    // A backup is older than this, and remembers that a server was active.
    TestPostgres.makeNodesSilent(copy);
    KeyCopy.restore(folder.resolve("keys"), TestPostgres.database(copy));
    try (var log = TestPostgres.open(copy, TestLogs.encryption(folder))) {
      assertThat(events(log, KEPT)).isEqualTo(kept);
      assertThatThrownBy(() -> log.head(DELETED)).isInstanceOf(Rejection.Gone.class);
    }
    assertThat(TestPostgres.filesWith(SECRET)).isEmpty();
  }
}
