package dev.parley.log;

import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A damaged context does not affect other contexts, and loses no further data.
final class SqliteLogDamageTest {

  private static final ContextId DAMAGED = new ContextId("damaged");
  private static final ContextId GOOD = new ContextId("good");

  @TempDir Path folder;

  /// Leaves a log with unsealed entries, as a crash does.
  private void write() throws IOException {
    var written = folder.resolve("written");
    try (var log = SqliteLogTest.open(written)) {
      log.create(DAMAGED, created());
      log.create(GOOD, created());
      log.append(DAMAGED, AppendGuard.none(), Decision.always(message("kept")));
      log.append(GOOD, AppendGuard.none(), Decision.always(message("one")));
      TestLogs.copy(written, folder);
    }
  }

  private void execute(String sql) throws SQLException {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
        var statement = connection.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  /// Opens the log, checks that only one context is damaged, and writes until all others are
  /// sealed.
  private void useTheOther() {
    try (var log = SqliteLogTest.open(folder)) {
      assertThatThrownBy(() -> log.read(DAMAGED, Position.START, 10))
          .isInstanceOf(Rejection.Damaged.class);
      assertThatThrownBy(
              () -> log.append(DAMAGED, AppendGuard.none(), Decision.always(message("lost"))))
          .isInstanceOf(Rejection.Damaged.class);
      for (var i = 0; i < 50; i++) {
        log.append(GOOD, AppendGuard.none(), Decision.always(message("more-" + i)));
      }
      assertThat(log.read(GOOD, Position.START, 100)).hasSize(52);
      assertThatThrownBy(() -> log.head(DAMAGED)).isInstanceOf(Rejection.Damaged.class);
    }
  }

  @Test
  void a_row_that_cannot_be_read_harms_no_other_context_and_keeps_its_entries() throws Exception {
    write();
    execute("CREATE TABLE aside AS SELECT secret FROM contexts WHERE id = 'damaged'");
    execute("UPDATE contexts SET secret = x'00' WHERE id = 'damaged'");

    useTheOther();

    execute("UPDATE contexts SET secret = (SELECT secret FROM aside) WHERE id = 'damaged'");
    try (var log = SqliteLogTest.open(folder)) {
      assertThat(log.read(DAMAGED, Position.START, 10))
          .extracting(Entry::event)
          .containsExactly(created(), message("kept").event());
    }
  }

  @Test
  void unsealed_entries_that_cannot_be_read_harm_no_other_context() throws Exception {
    write();
    garble();

    useTheOther();
    useAgain();
  }

  @Test
  void a_context_whose_unsealed_entries_cannot_be_read_can_be_deleted() throws Exception {
    write();
    garble();
    try (var log = SqliteLogTest.open(folder)) {
      assertThat(log.owner(DAMAGED)).isEqualTo(log.owner(GOOD));
      log.delete(DAMAGED);
      assertThatThrownBy(() -> log.head(DAMAGED)).isInstanceOf(Rejection.Gone.class);
    }
    try (var log = SqliteLogTest.open(folder)) {
      assertThatThrownBy(() -> log.head(DAMAGED)).isInstanceOf(Rejection.Gone.class);
      assertThat(log.read(GOOD, Position.START, 10)).hasSize(2);
    }
  }

  private void useAgain() {
    try (var log = SqliteLogTest.open(folder)) {
      assertThat(log.read(GOOD, Position.START, 100)).hasSize(52);
      assertThatThrownBy(() -> log.head(DAMAGED)).isInstanceOf(Rejection.Damaged.class);
    }
  }

  /// Overwrites the entries of the first context in all blocks.
  private void garble() throws SQLException {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("log.db"));
        var statement = connection.createStatement();
        var update = connection.prepareStatement("UPDATE blocks SET data = ? WHERE id = ?")) {
      var number = Jdbc.number(connection, "SELECT number FROM contexts WHERE id = 'damaged'");
      try (var rows = statement.executeQuery("SELECT id, data FROM blocks")) {
        while (rows.next()) {
          update.setBytes(1, garbled(rows.getBytes(2), number));
          update.setLong(2, rows.getLong(1));
          update.addBatch();
        }
      }
      update.executeBatch();
    }
  }

  private static byte[] garbled(byte[] data, long number) {
    var in = new ByteSource(data);
    var out = new ByteSink(data.length);
    while (in.hasMore()) {
      var context = in.number();
      var chunk = in.block();
      if (context == number) {
        Arrays.fill(chunk, (byte) 0xFF);
      }
      out.number(context);
      out.block(chunk);
    }
    return out.toArray();
  }
}
