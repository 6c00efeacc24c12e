package dev.parley.api.a2a.push;

import dev.parley.a2a.A2aVersion;
import dev.parley.a2a.PushNotificationConfig;
import dev.parley.auth.VaultCipher;
import dev.parley.log.OwnerOnlyFiles;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
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

/// Stores the registered webhooks in a table. Their addresses and secrets are encrypted.
///
/// For many threads. A single platform thread does all reads and writes, because a virtual thread
/// that waits for the disk would block its carrier thread.
final class PushConfigStore implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(PushConfigStore.class.getName());
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
  private static final String PUT =
      """
      INSERT INTO targets
          (context, task, id, version, sealed, cursor, state, generation, changed)
        SELECT ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE %s
        ON CONFLICT (context, task, id) DO UPDATE SET version = excluded.version,
          sealed = excluded.sealed, cursor = excluded.cursor, state = excluded.state,
          generation = excluded.generation, changed = excluded.changed
      """;
  private static final String ALL =
      "SELECT context, task, id, version, sealed, cursor, state, generation FROM targets ";

  private final PushDatabase database;
  private final VaultCipher vaultCipher;
  private final Time time;
  private final AtomicLong generations;
  private final ExecutorService thread;
  // For the thread. Null after a failure.
  private @Nullable Connection connection;

  private PushConfigStore(
      PushDatabase database,
      Connection connection,
      VaultCipher vaultCipher,
      Time time,
      Threads threads,
      long generation) {
    this.database = database;
    this.connection = connection;
    this.vaultCipher = vaultCipher;
    this.time = time;
    this.thread = Executors.newSingleThreadExecutor(threads.platformFactory("parley-push-store"));
    this.generations = new AtomicLong(generation);
  }

  /// Opens the store.
  static PushConfigStore open(
      PushDatabase database, VaultCipher vaultCipher, Time time, Threads threads) {
    try {
      var connection = database.connect();
      try (var statement = connection.createStatement()) {
        return new PushConfigStore(
            database, connection, vaultCipher, time, threads, number(statement, LATEST));
      } catch (SQLException failed) {
        connection.close();
        throw failed;
      }
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(
          "the webhooks in " + database + " cannot be read: " + failed.getMessage());
    }
  }

  /// The webhooks in a SQLite file, which is created if it does not exist.
  record PushFile(Path file, Time time) implements PushDatabase {

    @Override
    public Connection connect() throws SQLException {
      OwnerOnlyFiles.createFile(file);
      var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
      try (var statement = connection.createStatement()) {
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("PRAGMA synchronous = FULL");
        statement.execute("PRAGMA secure_delete = ON");
        statement.execute(SCHEMA);
        // Files of the first version have neither column.
        addColumn(statement, "generation", 0);
        addColumn(statement, "changed", time.millis());
        return connection;
      } catch (SQLException failed) {
        connection.close();
        throw failed;
      }
    }

    @Override
    public String toString() {
      return file.toString();
    }
  }

  /// The webhooks in the database of a cluster.
  record SharedPushTable(PostgresDatabase database, PostgresNode node) implements PushDatabase {

    @Override
    public Connection connect() throws SQLException {
      return database.connect();
    }

    @Override
    public String writable() {
      return node.activeCondition();
    }

    @Override
    public String toString() {
      return database.toString();
    }
  }

  /// Reads what the start of a server reads, and writes nothing. The columns that it does not name
  /// are added at the start if they are missing.
  static void readAsAtStart(Connection connection) throws SQLException {
    try (var statement = connection.createStatement()) {
      if (number(statement, "SELECT count(*) FROM sqlite_master WHERE name = 'targets'") > 0) {
        statement.execute(
            "SELECT context, task, id, version, sealed, cursor, state FROM targets LIMIT 1");
      }
    }
  }

  /// Adds a numeric column unless it exists: a server may have stopped after adding only one of
  /// them.
  private static void addColumn(Statement statement, String column, long value)
      throws SQLException {
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

  /// Stores a registration, replacing the task's registration with the same id, and returns it with
  /// a new generation.
  PushRegistration put(PushRegistration registration) {
    var it = registration.withGeneration(generations.incrementAndGet());
    update(
        PUT,
        it.context().value(),
        it.task().value(),
        it.id(),
        it.version().number(),
        vaultCipher.encrypt(Json.bytes(it.target())),
        it.cursor(),
        it.state().name(),
        it.generation(),
        time.millis());
    return it;
  }

  /// Stores the progress of a registration, unless it was removed or replaced in the meantime.
  void saveProgress(PushRegistration it) {
    update(
        "UPDATE targets SET cursor = ?, state = ?, changed = ?"
            + " WHERE context = ? AND task = ? AND id = ? AND generation = ? AND %s",
        it.cursor(),
        it.state().name(),
        time.millis(),
        it.context().value(),
        it.task().value(),
        it.id(),
        it.generation());
  }

  /// Returns false if there was none.
  boolean remove(ContextId context, TaskId task, String id) {
    return update(
            "DELETE FROM targets WHERE context = ? AND task = ? AND id = ? AND %s",
            context.value(), task.value(), id)
        > 0;
  }

  /// Removes all registrations of a context.
  void removeContext(ContextId context) {
    update("DELETE FROM targets WHERE context = ? AND %s", context.value());
  }

  /// Removes the registrations that ended before `since`.
  void removeEndedBefore(Instant since) {
    update(
        "DELETE FROM targets WHERE state <> ? AND changed < ? AND %s",
        PushRegistration.PushState.OPEN.name(), since.toEpochMilli());
  }

  Optional<PushRegistration> find(ContextId context, TaskId task, String id) {
    return list(
            ALL + "WHERE context = ? AND task = ? AND id = ?", context.value(), task.value(), id)
        .stream()
        .findFirst();
  }

  /// The registrations of a task, ordered by id.
  List<PushRegistration> ofTask(ContextId context, TaskId task) {
    return list(ALL + "WHERE context = ? AND task = ? ORDER BY id", context.value(), task.value());
  }

  List<PushRegistration> all() {
    return list(ALL + "ORDER BY context, task, id");
  }

  /// Writes, unless another server has taken over the table. `sql` has a place for the condition.
  private int update(String sql, Object... values) {
    var writable = database.writable();
    return runOnStoreThread(
        () -> {
          try (var statement = prepare(sql.formatted(writable), values)) {
            var changed = statement.executeUpdate();
            if (changed == 0 && !holds(writable)) {
              throw new Rejection.Unavailable("this server is not the active one any more");
            }
            return changed;
          } catch (SQLException failed) {
            disconnect();
            throw new Rejection.Unavailable(
                "push targets cannot be stored: " + failed.getMessage());
          }
        });
  }

  private boolean holds(String condition) throws SQLException {
    try (var statement = prepare("SELECT " + condition);
        var rows = statement.executeQuery()) {
      return rows.next() && rows.getBoolean(1);
    }
  }

  private List<PushRegistration> list(String sql, Object... values) {
    return runOnStoreThread(
        () -> {
          var found = new ArrayList<PushRegistration>();
          try (var statement = prepare(sql, values);
              var rows = statement.executeQuery()) {
            while (rows.next()) {
              var read = read(rows);
              if (read != null) {
                found.add(read);
              }
            }
            return found;
          } catch (SQLException failed) {
            disconnect();
            throw new Rejection.Unavailable("push targets cannot be read: " + failed.getMessage());
          }
        });
  }

  /// Runs this on the store's thread and waits for the result. An interrupt does not cancel it.
  private <T> T runOnStoreThread(Supplier<T> work) {
    try {
      return CompletableFuture.supplyAsync(work, thread).join();
    } catch (RejectedExecutionException closed) {
      throw new Rejection.Unavailable("push targets are not available: the server is stopping");
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof Rejection refused ? refused : failed;
    }
  }

  private PreparedStatement prepare(String sql, Object... values) throws SQLException {
    var open = connection;
    if (open == null) {
      open = database.connect();
      connection = open;
    }
    var statement = open.prepareStatement(sql);
    for (var i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }

  /// Reads a row. Returns null if it cannot be decrypted any more.
  private @Nullable PushRegistration read(ResultSet row) throws SQLException {
    try {
      return new PushRegistration(
          new ContextId(row.getString("context")),
          new TaskId(row.getString("task")),
          Json.read(vaultCipher.decrypt(row.getBytes("sealed")), PushNotificationConfig.class),
          A2aVersion.parse(row.getString("version")).orElse(A2aVersion.V1_0),
          row.getString("cursor"),
          PushRegistration.PushState.valueOf(row.getString("state")),
          row.getLong("generation"));
    } catch (Rejection.Unavailable otherKey) {
      LOG.log(
          Level.WARNING,
          "webhook {0} of task {1} is ignored because it cannot be decrypted: {2}",
          row.getString("id"),
          row.getString("task"),
          otherKey.getMessage());
      return null;
    }
  }

  @Override
  public void close() {
    thread.close();
    disconnect();
  }

  private void disconnect() {
    var open = connection;
    connection = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException failed) {
        LOG.log(Level.WARNING, "closing {0} failed: {1}", database, failed.getMessage());
      }
    }
  }
}
