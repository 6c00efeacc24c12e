package dev.parley.door.a2a.push;

import dev.parley.a2a.PushTarget;
import dev.parley.a2a.Version;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.vault.Seal;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The registered webhooks, in a database of their own. What callers told us in confidence is sealed.
///
/// Safe for many threads, one at a time.
final class PushStore implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(PushStore.class.getName());
  private static final String SCHEMA =
      """
      CREATE TABLE IF NOT EXISTS targets (
        context TEXT NOT NULL,
        task TEXT NOT NULL,
        id TEXT NOT NULL,
        version TEXT NOT NULL,
        sealed BLOB NOT NULL,
        cursor TEXT NOT NULL,
        state TEXT NOT NULL,
        PRIMARY KEY (context, task, id)
      ) WITHOUT ROWID
      """;
  private static final String ALL =
      "SELECT context, task, id, version, sealed, cursor, state FROM targets ";

  private final Connection connection;
  private final Seal seal;

  private PushStore(Connection connection, Seal seal) {
    this.connection = connection;
    this.seal = seal;
  }

  /// Opens the store, and makes it if there is none.
  static PushStore open(Path file, Seal seal) {
    try {
      var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
      try (var statement = connection.createStatement()) {
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("PRAGMA synchronous = FULL");
        statement.execute("PRAGMA secure_delete = ON");
        statement.execute(SCHEMA);
        return new PushStore(connection, seal);
      } catch (SQLException failed) {
        connection.close();
        throw failed;
      }
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(file + " cannot be opened: " + failed.getMessage());
    }
  }

  /// Keeps a registration instead of what its task had under this id.
  void put(Registration it) {
    update(
        "INSERT OR REPLACE INTO targets VALUES (?, ?, ?, ?, ?, ?, ?)",
        it.context().value(),
        it.task().value(),
        it.id(),
        it.version().number(),
        seal.close(Json.bytes(it.target())),
        it.cursor(),
        it.state().name());
  }

  /// Notes how far a registration has come, unless it was removed meanwhile.
  void advance(Registration it) {
    update(
        "UPDATE targets SET cursor = ?, state = ? WHERE context = ? AND task = ? AND id = ?",
        it.cursor(),
        it.state().name(),
        it.context().value(),
        it.task().value(),
        it.id());
  }

  /// False if there was none.
  boolean remove(ContextId context, TaskId task, String id) {
    return update(
            "DELETE FROM targets WHERE context = ? AND task = ? AND id = ?",
            context.value(),
            task.value(),
            id)
        > 0;
  }

  /// Forgets all that is registered for a context.
  void forget(ContextId context) {
    update("DELETE FROM targets WHERE context = ?", context.value());
  }

  Optional<Registration> find(ContextId context, TaskId task, String id) {
    return list(
            ALL + "WHERE context = ? AND task = ? AND id = ?", context.value(), task.value(), id)
        .stream()
        .findFirst();
  }

  /// Those of a task, by their ids.
  List<Registration> of(ContextId context, TaskId task) {
    return list(ALL + "WHERE context = ? AND task = ? ORDER BY id", context.value(), task.value());
  }

  /// All of them.
  List<Registration> all() {
    return list(ALL + "ORDER BY context, task, id");
  }

  private synchronized int update(String sql, Object... values) {
    try (var statement = bound(sql, values)) {
      return statement.executeUpdate();
    } catch (SQLException failed) {
      throw new Rejection.Unavailable("push targets cannot be stored: " + failed.getMessage());
    }
  }

  private synchronized List<Registration> list(String sql, Object... values) {
    var found = new ArrayList<Registration>();
    try (var statement = bound(sql, values);
        var rows = statement.executeQuery()) {
      while (rows.next()) {
        var read = read(rows);
        if (read != null) {
          found.add(read);
        }
      }
      return found;
    } catch (SQLException failed) {
      throw new Rejection.Unavailable("push targets cannot be read: " + failed.getMessage());
    }
  }

  private PreparedStatement bound(String sql, Object... values) throws SQLException {
    var statement = connection.prepareStatement(sql);
    for (var i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }

  /// What a row says, or null if its seal cannot be opened any more: then it is of no use to anybody.
  private @Nullable Registration read(ResultSet row) throws SQLException {
    try {
      return new Registration(
          new ContextId(row.getString("context")),
          new TaskId(row.getString("task")),
          Json.read(seal.open(row.getBytes("sealed")), PushTarget.class),
          Version.named(row.getString("version")).orElse(Version.V1_0),
          row.getString("cursor"),
          Registration.State.valueOf(row.getString("state")));
    } catch (Rejection.Unavailable otherKey) {
      LOG.log(
          Level.WARNING,
          "the webhook {0} of task {1} is forgotten: {2}",
          row.getString("id"),
          row.getString("task"),
          otherKey.getMessage());
      return null;
    }
  }

  @Override
  public synchronized void close() {
    try {
      connection.close();
    } catch (SQLException failed) {
      LOG.log(Level.WARNING, "push.db was not closed well", failed);
    }
  }
}
