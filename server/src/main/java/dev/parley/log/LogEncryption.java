package dev.parley.log;

import dev.parley.encryption.ContentCipher;
import dev.parley.encryption.ContentCipher.UndecryptableException;
import dev.parley.encryption.DataKey;
import dev.parley.encryption.KeyRing;
import dev.parley.encryption.KeyRing.NewWrappingKey;
import dev.parley.encryption.MasterKey;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The encryption of a log: the keys of its contexts, and the wrapping keys in its database.
/// Thread-safe.
///
/// The key of a context is in the row of the context, wrapped. It is removed when the context is
/// deleted and no fork shares its entries.
public final class LogEncryption {

  private static final String NO_MASTER_KEY =
      "its contexts are encrypted; set encryption.masterKey in the configuration";

  private final @Nullable MasterKey masterKey;
  private final KeyRing keyRing = new KeyRing();

  private LogEncryption(@Nullable MasterKey masterKey) {
    this.masterKey = masterKey;
  }

  /// New contexts are not encrypted, and a log with encrypted ones cannot be opened.
  public static LogEncryption none() {
    return new LogEncryption(null);
  }

  /// New contexts are encrypted.
  public static LogEncryption with(MasterKey masterKey) {
    return new LogEncryption(masterKey);
  }

  /// Loads the wrapping keys before a writer is used, and creates the first one. The caller commits.
  ///
  /// @throws SQLException if the log is encrypted and the master key is missing or does not fit
  void openToWrite(Connection connection) throws SQLException {
    if (load(connection).isEmpty() && masterKey != null) {
      Jdbc.update(
          connection,
          "INSERT INTO wrapping_keys (id, wrapped) VALUES (1, ?) ON CONFLICT DO NOTHING",
          (Object) create().wrapped());
      load(connection);
    }
  }

  private NewWrappingKey create() throws SQLException {
    try {
      return NewWrappingKey.create(known());
    } catch (Rejection unusable) {
      throw new SQLException(unusable.getMessage(), unusable);
    }
  }

  private MasterKey known() {
    if (masterKey == null) {
      throw new Rejection.Invalid("encryption-off", "encryption is not configured");
    }
    return masterKey;
  }

  /// Creates a wrapping key with the current version of the master key. May take seconds.
  ///
  /// @throws Rejection if encryption is off, or the master key cannot be used
  NewWrappingKey newWrappingKey() {
    return NewWrappingKey.create(known());
  }

  /// Stores a wrapping key. Call [#use] after the commit.
  static void add(Connection connection, NewWrappingKey fresh) throws SQLException {
    Jdbc.update(
        connection,
        "INSERT INTO wrapping_keys (id, wrapped) SELECT max(id) + 1, ? FROM wrapping_keys",
        (Object) fresh.wrapped());
  }

  /// Uses a wrapping key that was stored durably, without asking for the master key.
  void use(Connection connection, NewWrappingKey fresh) throws SQLException {
    var master = known();
    keyRing.update(
        stored(connection),
        wrapped -> Arrays.equals(wrapped, fresh.wrapped()) ? fresh.key() : master.unwrap(wrapped));
  }

  /// The wrapping keys in memory.
  KeyRing keyRing() {
    return keyRing;
  }

  /// Loads the wrapping keys that are stored.
  Map<Long, byte[]> load(Connection connection) throws SQLException {
    var stored = stored(connection);
    if (!stored.isEmpty() && masterKey == null) {
      throw new SQLException(NO_MASTER_KEY);
    }
    if (masterKey != null) {
      try {
        keyRing.update(stored, masterKey::unwrap);
      } catch (Rejection | UndecryptableException unusable) {
        // The caller handles it as a failure of the store, which may end.
        throw new SQLException(unusable.getMessage(), unusable);
      }
    }
    return stored;
  }

  private static Map<Long, byte[]> stored(Connection connection) throws SQLException {
    return Jdbc.list(
            connection,
            "SELECT id, wrapped FROM wrapping_keys",
            row -> Map.entry(row.getLong(1), row.getBytes(2)))
        .stream()
        .collect(
            Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (a, _) -> a, TreeMap::new));
  }

  /// Checks that the master key can wrap and unwrap a key.
  ///
  /// @throws SQLException if it cannot be used
  public void check() throws SQLException {
    if (masterKey != null) {
      var fresh = create();
      try {
        if (!Arrays.equals(masterKey.unwrap(fresh.wrapped()), fresh.key())) {
          throw new SQLException("the master key unwraps another key than it has wrapped");
        }
      } catch (Rejection | UndecryptableException unusable) {
        throw new SQLException(unusable.getMessage(), unusable);
      }
    }
  }

  /// Does the same, and checks that the master key fits the log in this file. Changes nothing.
  ///
  /// @throws SQLException if the log cannot be opened with it
  public void check(Path log) throws SQLException {
    check();
    DatabaseCheck.check(
        log,
        Duration.ZERO,
        connection -> {
          if (LogDatabase.isCurrent(connection)) {
            load(connection);
          }
        });
  }

  /// Does the same with the log in this database.
  ///
  /// @throws SQLException if the log cannot be opened with it
  public void check(PostgresDatabase database) throws SQLException {
    check();
    try (var connection = database.connect()) {
      if (Jdbc.number(connection, "SELECT count(*) FROM pg_class WHERE relname = 'wrapping_keys'")
          > 0) {
        load(connection);
      }
    }
  }

  /// True if new contexts are encrypted.
  public boolean isOn() {
    return masterKey != null;
  }

  /// Returns the cipher of a new context.
  ContentCipher newCipher() {
    return masterKey == null ? ContentCipher.NONE : DataKey.random();
  }

  /// Returns the stored form of the key of a context; null if it is not encrypted.
  byte @Nullable [] wrap(ContentCipher cipher, long number, ContextId context) {
    return cipher instanceof DataKey key ? keyRing.wrap(key, number, context.value()) : null;
  }

  /// Returns the cipher of a context. `wrapped` is the stored form of its key.
  ///
  /// @throws UndecryptableException if the key cannot be used
  ContentCipher cipher(
      Connection connection, byte @Nullable [] wrapped, long number, ContextId context)
      throws SQLException {
    if (wrapped == null) {
      return ContentCipher.NONE;
    }
    if (!keyRing.has(KeyRing.wrappingKeyOf(wrapped))) {
      // Another server, or the writer, has changed the wrapping keys meanwhile.
      load(connection);
    }
    return keyRing.unwrap(wrapped, number, context.value());
  }

  /// Does the same for the context with this number.
  ContentCipher cipher(Connection connection, long number) throws SQLException {
    var found =
        Jdbc.list(
            connection,
            "SELECT id, data_key FROM contexts WHERE number = ?",
            row -> cipher(connection, row.getBytes(2), number, new ContextId(row.getString(1))),
            number);
    return found.isEmpty() ? ContentCipher.NONE : found.getFirst();
  }
}
