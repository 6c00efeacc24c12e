package dev.parley.log;

import dev.parley.encryption.ContentCipher;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;

/// Encrypts the contexts of a log that were created before encryption was turned on. No server may
/// use the log meanwhile.
///
/// Each context is encrypted in one transaction, so an interrupted migration can be repeated. The
/// contexts that have entries in blocks come first, together with these blocks.
public final class EncryptionMigration {

  private static final String PLAIN =
      "SELECT number, id FROM contexts WHERE data_key IS NULL AND (deleted = 0"
          + " OR EXISTS (SELECT 1 FROM shares WHERE source = number)) ORDER BY number";

  private final Connection connection;
  private final LogEncryption encryption;
  private final LongConsumer progress;

  private EncryptionMigration(
      Connection connection, LogEncryption encryption, LongConsumer progress) {
    this.connection = connection;
    this.encryption = encryption;
    this.progress = progress;
  }

  /// Encrypts the contexts of a data folder. Reports the number of finished ones to `progress`, and
  /// returns it.
  ///
  /// @throws Rejection if that is not possible; some contexts may be encrypted then
  public static long encrypt(Path folder, LogEncryption encryption, LongConsumer progress) {
    if (!Files.isRegularFile(folder.resolve(SqliteStore.FILE))) {
      throw new Rejection.NotFound(
          "there is no data folder at " + folder + ": it has no " + SqliteStore.FILE);
    }
    try (var _ = DataFolder.claim(folder);
        var connection =
            new LogDatabase(folder.resolve(SqliteStore.FILE), LogTuning.DEFAULT.walBytes())
                .openWriter()) {
      var count = new EncryptionMigration(connection, encryption, progress).run();
      // The old content is also in the write-ahead log.
      connection.setAutoCommit(true);
      if (Jdbc.number(connection, "PRAGMA wal_checkpoint(TRUNCATE)") != 0) {
        throw new Rejection.Unavailable(
            "the contexts are encrypted, but another program reads the log, so its write-ahead log"
                + " still has the old content; run this command again");
      }
      return count;
    } catch (SQLException failed) {
      throw failed(failed);
    }
  }

  /// Encrypts the contexts of a database.
  ///
  /// @throws Rejection if that is not possible; some contexts may be encrypted then
  public static long encrypt(
      PostgresDatabase database, LogEncryption encryption, LongConsumer progress) {
    try {
      database.migrate();
      try (var lock = database.connect();
          var connection = database.connect()) {
        // No server can start before the end.
        lock.setAutoCommit(false);
        Jdbc.execute(lock, "SET idle_in_transaction_session_timeout = 0");
        LogTransfer.fenceSilentNode(lock, database);
        lock.commit();
        Jdbc.execute(lock, "LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE");
        LogTransfer.checkStopped(lock, database);
        Jdbc.execute(connection, "SET idle_in_transaction_session_timeout = 0");
        connection.setAutoCommit(false);
        return new EncryptionMigration(connection, encryption, progress).run();
      }
    } catch (SQLException failed) {
      throw failed(failed);
    }
  }

  private static Rejection failed(SQLException failed) {
    return new Rejection.Unavailable("the log cannot be encrypted: " + failed.getMessage());
  }

  private record PlainContext(long number, ContextId id) {}

  private long run() throws SQLException {
    encryption.openToWrite(connection);
    connection.commit();
    var plain =
        Jdbc.list(
            connection,
            PLAIN,
            row -> new PlainContext(row.getLong(1), new ContextId(row.getString(2))));
    var inBlocks = contextsInBlocks();
    var count = 0L;
    var ciphers = new LinkedHashMap<Long, ContentCipher>();
    for (var context : plain) {
      if (inBlocks.contains(context.number())) {
        ciphers.put(context.number(), encrypt(context));
        count++;
      }
    }
    encryptBlocks(ciphers);
    connection.commit();
    progress.accept(count);
    for (var context : plain) {
      if (!inBlocks.contains(context.number())) {
        encrypt(context);
        connection.commit();
        progress.accept(++count);
      }
    }
    return count;
  }

  private Set<Long> contextsInBlocks() throws SQLException {
    var numbers = new HashSet<Long>();
    for (var block : blocks()) {
      var in = new ByteSource(data("blocks", "id = " + block));
      while (in.hasMore()) {
        numbers.add(in.number());
        in.skip(in.length());
      }
    }
    return numbers;
  }

  private List<Long> blocks() throws SQLException {
    return Jdbc.list(connection, "SELECT id FROM blocks ORDER BY id", row -> row.getLong(1));
  }

  private byte[] data(String table, String row) throws SQLException {
    return Jdbc.list(
            connection, "SELECT data FROM " + table + " WHERE " + row, found -> found.getBytes(1))
        .getFirst();
  }

  private void encryptBlocks(Map<Long, ContentCipher> ciphers) throws SQLException {
    for (var block : blocks()) {
      var data = data("blocks", "id = " + block);
      var in = new ByteSource(data);
      var out = new ByteSink(2 * data.length);
      while (in.hasMore()) {
        var number = in.number();
        var chunk = in.block();
        var cipher = ciphers.getOrDefault(number, ContentCipher.NONE);
        out.number(number);
        out.block(cipher.encrypts() ? cipher.encrypt(chunk, StoredValue.chunk(number)) : chunk);
      }
      Jdbc.update(connection, "UPDATE blocks SET data = ? WHERE id = ?", out.toArray(), block);
    }
  }

  private ContentCipher encrypt(PlainContext context) throws SQLException {
    var cipher = encryption.newCipher();
    var number = context.number();
    encryptRows("segments", number, cipher);
    encryptRows("states", number, cipher);
    encryptState(number, cipher);
    encryptHeads(number, cipher);
    hideKeys(number, cipher);
    Jdbc.update(
        connection,
        "UPDATE contexts SET data_key = ? WHERE number = ?",
        encryption.wrap(cipher, number, context.id()),
        number);
    return cipher;
  }

  private void encryptRows(String table, long number, ContentCipher cipher) throws SQLException {
    var rows =
        Jdbc.list(
            connection,
            "SELECT last FROM " + table + " WHERE context = ?",
            row -> row.getLong(1),
            number);
    for (var last : rows) {
      var place =
          table.equals("segments")
              ? StoredValue.segment(number, last)
              : StoredValue.keptState(number, last);
      var data = data(table, "context = " + number + " AND last = " + last);
      Jdbc.update(
          connection,
          "UPDATE " + table + " SET data = ? WHERE context = ? AND last = ?",
          cipher.encrypt(data, place),
          number,
          last);
    }
  }

  private void encryptState(long number, ContentCipher cipher) throws SQLException {
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record SealedState(long sealed, byte[] state) {}
    var states =
        Jdbc.list(
            connection,
            "SELECT sealed, state FROM contexts WHERE number = ? AND state IS NOT NULL",
            row -> new SealedState(row.getLong(1), row.getBytes(2)),
            number);
    for (var state : states) {
      var place = StoredValue.state(number, PositionCodec.unpack(state.sealed()));
      Jdbc.update(
          connection,
          "UPDATE contexts SET state = ? WHERE number = ?",
          cipher.encrypt(state.state(), place),
          number);
    }
  }

  private void encryptHeads(long number, ContentCipher cipher) throws SQLException {
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record StoredHead(String artifact, byte[] data) {}
    var heads =
        Jdbc.list(
            connection,
            "SELECT artifact, data FROM artifact_heads WHERE context = ?",
            row -> new StoredHead(row.getString(1), row.getBytes(2)),
            number);
    Jdbc.update(connection, "DELETE FROM artifact_heads WHERE context = ?", number);
    for (var head : heads) {
      var row = head.artifact();
      var data = head.data();
      if (!row.equals(ArtifactHeadTable.ALL)) {
        var id = new ArtifactId(row);
        row = ArtifactHeadTable.row(cipher, id);
        data =
            ArtifactHeadTable.bytes(cipher, id, Json.mapper().readValue(data, ArtifactHead.class));
      }
      Jdbc.update(
          connection,
          "INSERT INTO artifact_heads VALUES (?, ?, ?)",
          number,
          row,
          cipher.encrypt(data, StoredValue.heads(number, row)));
    }
  }

  private void hideKeys(long number, ContentCipher cipher) throws SQLException {
    var keys =
        Jdbc.list(
            connection,
            "SELECT principal, key, hash FROM keys WHERE context = ?",
            row ->
                new AppendGuard.IdempotencyKey(
                    row.getString(1), row.getString(2), row.getString(3)),
            number);
    for (var key : keys) {
      var hidden = CachedContext.stored(cipher, key);
      Jdbc.update(
          connection,
          "UPDATE keys SET key = ?, hash = ? WHERE context = ? AND principal = ? AND key = ?",
          hidden.key(),
          hidden.bodyHash(),
          number,
          key.principal(),
          key.key());
    }
  }
}
