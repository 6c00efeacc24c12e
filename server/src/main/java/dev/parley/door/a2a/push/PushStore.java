package dev.parley.door.a2a.push;

import dev.parley.a2a.PushTarget;
import dev.parley.a2a.Version;
import dev.parley.log.OwnerOnly;
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
import java.sql.Statement;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The registered webhooks, in a database of their own. What callers told us in confidence is sealed.
///
/// Safe for many threads. One thread of its own does all that reads and writes: a virtual thread that waited for the
/// disk would hold up others.
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
        generation INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        PRIMARY KEY (context, task, id)
      ) WITHOUT ROWID
      """;
  private static final String COLUMNS =
      "SELECT count(*) FROM pragma_table_info('targets') WHERE name = ";
  private static final String LATEST = "SELECT coalesce(max(generation), 0) FROM targets";
  private static final String ALL =
      "SELECT context, task, id, version, sealed, cursor, state, generation FROM targets ";

  private final Connection connection;
  private final Seal seal;
  private final InstantSource clock;
  private final AtomicLong generations;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("parley-push-store").factory());

  private PushStore(Connection connection, Seal seal, InstantSource clock, long generation) {
    this.connection = connection;
    this.seal = seal;
    this.clock = clock;
    this.generations = new AtomicLong(generation);
  }

  /// Opens the store, and makes it if there is none.
  static PushStore open(Path file, Seal seal, InstantSource clock) {
    try {
      OwnerOnly.makeFile(file);
      var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
      try (var statement = connection.createStatement()) {
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("PRAGMA synchronous = FULL");
        statement.execute("PRAGMA secure_delete = ON");
        statement.execute(SCHEMA);
        // Files of the first version have neither.
        grow(statement, "generation", 0);
        grow(statement, "changed", clock.millis());
        return new PushStore(connection, seal, clock, number(statement, LATEST));
      } catch (SQLException failed) {
        connection.close();
        throw failed;
      }
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(file + " cannot be opened: " + failed.getMessage());
    }
  }

  /// Adds a column of numbers, unless it is there: a server may have been ended between two of them.
  private static void grow(Statement statement, String column, long value) throws SQLException {
    if (number(statement, COLUMNS + "'" + column + "'") == 0) {
      statement.execute(
          "ALTER TABLE targets ADD COLUMN " + column + " INTEGER NOT NULL DEFAULT " + value);
    }
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (var rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }

  /// Keeps a registration instead of what its task had under this id, and returns it as one that was never there
  /// before.
  Registration put(Registration registration) {
    var it = registration.in(generations.incrementAndGet());
    update(
        "INSERT OR REPLACE INTO targets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        it.context().value(),
        it.task().value(),
        it.id(),
        it.version().number(),
        seal.close(Json.bytes(it.target())),
        it.cursor(),
        it.state().name(),
        it.generation(),
        clock.millis());
    return it;
  }

  /// Notes how far a registration has come, unless it was removed or replaced meanwhile.
  void advance(Registration it) {
    update(
        "UPDATE targets SET cursor = ?, state = ?, changed = ?"
            + " WHERE context = ? AND task = ? AND id = ? AND generation = ?",
        it.cursor(),
        it.state().name(),
        clock.millis(),
        it.context().value(),
        it.task().value(),
        it.id(),
        it.generation());
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

  /// Forgets those that have nothing to tell since then.
  void forgetEnded(Instant since) {
    update(
        "DELETE FROM targets WHERE state <> ? AND changed < ?",
        Registration.State.OPEN.name(),
        since.toEpochMilli());
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

  private int update(String sql, Object... values) {
    return done(
        () -> {
          try (var statement = bound(sql, values)) {
            return statement.executeUpdate();
          } catch (SQLException failed) {
            throw new Rejection.Unavailable(
                "push targets cannot be stored: " + failed.getMessage());
          }
        });
  }

  private List<Registration> list(String sql, Object... values) {
    return done(
        () -> {
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
        });
  }

  /// What the store's own thread makes of this. An interrupt is kept for later: what was begun is done.
  private <T> T done(Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(work, thread).join();
    } catch (RejectedExecutionException closed) {
      throw new Rejection.Unavailable("push targets cannot be reached: the server stops");
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof Rejection refused ? refused : failed;
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
          Registration.State.valueOf(row.getString("state")),
          row.getLong("generation"));
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
  public void close() {
    thread.close();
    try {
      connection.close();
    } catch (SQLException failed) {
      LOG.log(Level.WARNING, "push.db was not closed well", failed);
    }
  }
}
