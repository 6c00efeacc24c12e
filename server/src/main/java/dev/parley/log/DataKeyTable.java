package dev.parley.log;

import dev.parley.encryption.ContentCipher.UndecryptableException;
import dev.parley.encryption.KeyRing;
import dev.parley.encryption.KeyRing.NewWrappingKey;
import dev.parley.log.BlockStore.RewrappedKeys;
import dev.parley.protocol.ContextId;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;

/// The SQL statements that wrap the keys of contexts again. For the same connection and thread as
/// [TableWriter], whose caller commits.
final class DataKeyTable {

  private static final Logger LOG = System.getLogger(DataKeyTable.class.getName());

  private final Connection connection;
  private final LogEncryption encryption;

  DataKeyTable(Connection connection, LogEncryption encryption) {
    this.connection = connection;
    this.encryption = encryption;
  }

  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record WrappedKey(long number, ContextId context, byte[] wrapped) {}

  boolean hasOldWrappingKeys() throws SQLException {
    return Jdbc.number(connection, "SELECT count(*) FROM wrapping_keys") > 1;
  }

  void add(NewWrappingKey fresh) throws SQLException {
    LogEncryption.add(connection, fresh);
  }

  /// Call this after the commit of [#add].
  void use(NewWrappingKey fresh) throws SQLException {
    encryption.use(connection, fresh);
  }

  RewrappedKeys rewrap(long after, int limit) throws SQLException {
    var keys =
        Jdbc.list(
            connection,
            "SELECT number, id, data_key FROM contexts WHERE number > ? AND data_key IS NOT NULL"
                + " ORDER BY number LIMIT ?",
            row -> new WrappedKey(row.getLong(1), new ContextId(row.getString(2)), row.getBytes(3)),
            after,
            limit);
    var failed = 0;
    for (var key : keys) {
      try {
        rewrap(key);
      } catch (UndecryptableException damaged) {
        failed++;
        LOG.log(
            Level.ERROR,
            "the key of context {0} is damaged: {1}",
            key.context(),
            damaged.getMessage());
      }
    }
    return new RewrappedKeys(
        keys.isEmpty() ? after : keys.getLast().number(), failed, keys.size() < limit);
  }

  private void rewrap(WrappedKey key) throws SQLException {
    if (KeyRing.wrappingKeyOf(key.wrapped()) == encryption.keyRing().current()) {
      return;
    }
    var cipher = encryption.cipher(connection, key.wrapped(), key.number(), key.context());
    Jdbc.update(
        connection,
        "UPDATE contexts SET data_key = ? WHERE number = ?",
        encryption.wrap(cipher, key.number(), key.context()),
        key.number());
  }

  void deleteOld() throws SQLException {
    Jdbc.update(
        connection, "DELETE FROM wrapping_keys WHERE id < (SELECT max(w.id) FROM wrapping_keys w)");
  }
}
