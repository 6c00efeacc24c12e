package dev.parley.log;

import dev.parley.encryption.KeyRing;
import dev.parley.protocol.Rejection;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// A copy of the wrapped keys of a log, without any content. With the newest copy, an older backup
/// can be used: its keys are replaced, and contexts that were deleted meanwhile stay deleted.
///
/// The copy is a text. Each line has a letter, a number and a key in base64: `w` is a wrapping key,
/// `c` the key of a context, and `d` that of a deleted context whose entries a fork shares.
public final class KeyCopy {

  private static final String HEAD = "parley-keys 1 ";
  private static final int PARTS = 3;

  /// Rows of one batch.
  private static final int BATCH = 256;

  private KeyCopy() {}

  /// How many contexts got their current key, and how many were deleted meanwhile.
  public record RestoredKeys(long replaced, long deleted) {}

  /// Writes the keys of a data folder into a new file, also while a server uses the folder. Returns the
  /// number of contexts.
  ///
  /// @throws Rejection if that is not possible
  public static long save(Path folder, Path target) {
    try (var connection =
        new LogDatabase(folder.resolve(SqliteStore.FILE), LogTuning.DEFAULT.walBytes())
            .openReader()) {
      connection.setAutoCommit(false);
      return save(connection, target);
    } catch (SQLException failed) {
      throw failed(failed);
    }
  }

  /// Writes the keys of a database into a new file, also while servers use it. Returns the number of
  /// contexts.
  ///
  /// @throws Rejection if that is not possible
  public static long save(PostgresDatabase database, Path target) {
    try (var connection = database.connect()) {
      PostgresDatabase.check(connection);
      connection.setAutoCommit(false);
      Jdbc.execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
      Jdbc.execute(connection, "SET LOCAL idle_in_transaction_session_timeout = 0");
      return save(connection, target);
    } catch (SQLException failed) {
      throw failed(failed);
    }
  }

  /// Writes the copy under another name first, so that an interrupted one never replaces the last.
  private static long save(Connection connection, Path target) throws SQLException {
    var part = target.resolveSibling(target.getFileName() + ".part");
    try {
      Files.deleteIfExists(part);
      OwnerOnlyFiles.createFile(part);
      long count;
      try (var writer = Files.newBufferedWriter(part, StandardCharsets.US_ASCII)) {
        var last = Jdbc.number(connection, "SELECT max(number) FROM contexts");
        writer.write(HEAD + last + "\n");
        write(connection, "SELECT 'w', id, wrapped FROM wrapping_keys", writer);
        count =
            write(
                connection,
                "SELECT CASE deleted WHEN 0 THEN 'c' ELSE 'd' END, number, data_key FROM contexts"
                    + " WHERE data_key IS NOT NULL",
                writer);
      }
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
      return count;
    } catch (IOException unwritable) {
      throw new Rejection.Unavailable(
          "the keys cannot be written to " + target + ": " + unwritable.getMessage());
    }
  }

  private static long write(Connection connection, String sql, BufferedWriter writer)
      throws SQLException, IOException {
    var count = 0L;
    try (var select = connection.prepareStatement(sql)) {
      select.setFetchSize(BATCH);
      try (var rows = select.executeQuery()) {
        while (rows.next()) {
          var key = Base64.getEncoder().encodeToString(rows.getBytes(3));
          writer.write(rows.getString(1) + " " + rows.getLong(2) + " " + key + "\n");
          count++;
        }
      }
    }
    return count;
  }

  /// Replaces the keys in a restored data folder, which no server may use.
  ///
  /// @throws Rejection if that is not possible; the folder is then unchanged
  public static RestoredKeys restore(Path copy, Path folder) {
    var keys = SavedKeys.read(copy);
    if (!Files.isRegularFile(folder.resolve(SqliteStore.FILE))) {
      throw new Rejection.NotFound(
          "there is no data folder at " + folder + ": it has no " + SqliteStore.FILE);
    }
    try (var _ = DataFolder.claim(folder);
        var connection =
            new LogDatabase(folder.resolve(SqliteStore.FILE), LogTuning.DEFAULT.walBytes())
                .openWriter()) {
      var restored = keys.restore(connection);
      connection.commit();
      return restored;
    } catch (SQLException failed) {
      throw failed(failed);
    }
  }

  /// Replaces the keys in a restored database, which no server may use.
  ///
  /// @throws Rejection if that is not possible; the database is then unchanged
  public static RestoredKeys restore(Path copy, PostgresDatabase database) {
    var keys = SavedKeys.read(copy);
    try (var connection = database.connect()) {
      PostgresDatabase.check(connection);
      connection.setAutoCommit(false);
      Jdbc.execute(connection, "SET LOCAL idle_in_transaction_session_timeout = 0");
      Jdbc.execute(connection, "LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE");
      LogTransfer.fenceSilentNode(connection, database);
      var restored = keys.restore(connection);
      connection.commit();
      return restored;
    } catch (SQLException failed) {
      throw failed(failed);
    }
  }

  private static Rejection failed(SQLException failed) {
    return new Rejection.Unavailable("the keys cannot be copied: " + failed.getMessage());
  }

  /// The keys in a copy. `last` is the highest number of a context when it was made.
  private record SavedKeys(
      long last, Map<Long, byte[]> wrappingKeys, Map<Long, byte[]> contexts, Set<Long> gone) {

    static SavedKeys read(Path copy) {
      try {
        return parse(Files.readAllLines(copy, StandardCharsets.US_ASCII));
      } catch (IOException unreadable) {
        throw new Rejection.Unavailable(
            "the keys in " + copy + " cannot be read: " + unreadable.getMessage());
      } catch (IllegalArgumentException malformed) {
        throw new Rejection.Invalid(copy + " is not a complete copy of keys");
      }
    }

    private static SavedKeys parse(List<String> lines) {
      if (lines.isEmpty() || !lines.getFirst().startsWith(HEAD)) {
        throw new IllegalArgumentException("not a copy of keys");
      }
      var last = Long.parseLong(lines.getFirst().substring(HEAD.length()));
      var keys = new SavedKeys(last, new HashMap<>(), new HashMap<>(), new HashSet<>());
      for (var line : lines.subList(1, lines.size())) {
        var parts = line.split(" ", PARTS);
        if (parts.length != PARTS) {
          throw new IllegalArgumentException("an incomplete line");
        }
        keys.add(parts[0], Long.parseLong(parts[1]), Base64.getDecoder().decode(parts[2]));
      }
      return keys;
    }

    private void add(String kind, long number, byte[] key) {
      (kind.equals("w") ? wrappingKeys : contexts).put(number, key);
      if (kind.equals("d")) {
        gone.add(number);
      }
    }

    RestoredKeys restore(Connection connection) throws SQLException {
      var stored =
          Jdbc.list(
              connection,
              "SELECT number FROM contexts WHERE data_key IS NOT NULL AND number <= ?",
              row -> row.getLong(1),
              last);
      var mark =
          1
              + Math.max(
                  Jdbc.number(connection, "SELECT max(touched) FROM contexts"),
                  Jdbc.number(connection, "SELECT max(id) FROM blocks"));
      var deleted = 0L;
      for (var number : stored) {
        if (!contexts.containsKey(number) || gone.contains(number)) {
          delete(connection, number, mark);
          deleted++;
        }
      }
      for (var key : contexts.entrySet()) {
        Jdbc.update(
            connection,
            "UPDATE contexts SET data_key = ? WHERE number = ?",
            key.getValue(),
            key.getKey());
      }
      for (var key : wrappingKeys.entrySet()) {
        Jdbc.update(
            connection,
            "INSERT INTO wrapping_keys (id, wrapped) VALUES (?, ?)"
                + " ON CONFLICT (id) DO UPDATE SET wrapped = excluded.wrapped",
            key.getKey(),
            key.getValue());
      }
      removeUnused(connection);
      return new RestoredKeys(stored.size() - deleted, deleted);
    }

    /// Turns a context into a tombstone. The next start erases its rows.
    private static void delete(Connection connection, long number, long mark) throws SQLException {
      Jdbc.update(connection, "DELETE FROM shares WHERE context = ?", number);
      Jdbc.update(
          connection, "INSERT INTO erasures (context) VALUES (?) ON CONFLICT DO NOTHING", number);
      Jdbc.update(
          connection,
          "UPDATE contexts SET secret = NULL, state = NULL, open_tasks = 0, deleted = 1,"
              + " touched = ?, data_key = NULL WHERE number = ?",
          mark,
          number);
    }

    /// Removes the wrapping keys that no context needs: the master key may not fit them any more.
    private void removeUnused(Connection connection) throws SQLException {
      var needed = new HashSet<>(wrappingKeys.keySet());
      Jdbc.list(
              connection,
              "SELECT data_key FROM contexts WHERE data_key IS NOT NULL AND number > ?",
              row -> KeyRing.wrappingKeyOf(row.getBytes(1)),
              last)
          .forEach(needed::add);
      for (var id : Jdbc.list(connection, "SELECT id FROM wrapping_keys", row -> row.getLong(1))) {
        if (!needed.contains(id)) {
          Jdbc.update(connection, "DELETE FROM wrapping_keys WHERE id = ?", id);
        }
      }
    }
  }
}
