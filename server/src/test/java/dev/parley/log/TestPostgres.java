package dev.parley.log;

import dev.parley.log.PostgresLog.PostgresLogDependencies;
import dev.parley.log.PostgresNode.NodeInfo;
import dev.parley.log.PostgresNode.NodeRole;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/// A PostgreSQL server for tests. It starts with the first test that needs it, and ends with the
/// process.
public final class TestPostgres {

  private static final AtomicInteger DATABASES = new AtomicInteger();

  private TestPostgres() {}

  private static final class Started {
    static final EmbeddedPostgres SERVER = start();

    private static EmbeddedPostgres start() {
      try {
        return EmbeddedPostgres.builder().setServerConfig("max_connections", "200").start();
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
  }

  /// Creates an empty database, and returns its address.
  public static String createDatabase() {
    var name = "test" + DATABASES.incrementAndGet();
    try (var connection = Started.SERVER.getPostgresDatabase().getConnection()) {
      Jdbc.execute(connection, "CREATE DATABASE " + name);
      return "postgresql://postgres@localhost:" + Started.SERVER.getPort() + "/" + name;
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /// Copies the files of a database that nobody uses, as a base backup does. Returns the address of
  /// the copy.
  public static String copyDatabase(String address) {
    var name = "test" + DATABASES.incrementAndGet();
    var slash = address.lastIndexOf('/');
    try (var connection = Started.SERVER.getPostgresDatabase().getConnection()) {
      Jdbc.execute(
          connection, "CREATE DATABASE " + name + " TEMPLATE " + address.substring(slash + 1));
      return address.substring(0, slash + 1) + name;
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /// Makes the last signs of life of all nodes a minute older.
  static void makeNodesSilent(String address) throws SQLException {
    try (var connection = database(address).connect()) {
      Jdbc.update(connection, "UPDATE beats SET at = at - INTERVAL '1 minute'");
    }
  }

  /// The files of the server, with its write-ahead log, that contain this text.
  static List<Path> filesWith(String text) throws SQLException, IOException {
    try (var connection = Started.SERVER.getPostgresDatabase().getConnection()) {
      Jdbc.execute(connection, "CHECKPOINT");
      var data =
          Jdbc.list(connection, "SHOW data_directory", row -> Path.of(row.getString(1))).getFirst();
      try (var files = Files.walk(data)) {
        return files.filter(Files::isRegularFile).filter(file -> contains(file, text)).toList();
      }
    }
  }

  private static boolean contains(Path file, String text) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).contains(text);
    } catch (IOException removedMeanwhile) {
      return false;
    }
  }

  /// The database at this address, with its schema.
  public static PostgresDatabase database(String address) {
    var database = new PostgresDatabase(PostgresAddress.parse(address, Map.of()));
    try {
      database.migrate();
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
    return database;
  }

  /// Registers a node and makes it the active one, instead of the present one.
  public static PostgresNode activate(PostgresDatabase database) {
    try (var connection = database.connect()) {
      var node = PostgresNode.register(connection, new NodeInfo("http://127.0.0.1:1", "test"));
      var active =
          node.beat(connection).stream()
              .filter(row -> row.role() == NodeRole.ACTIVE)
              .findFirst()
              .orElse(null);
      if (!node.takeOver(connection, active)) {
        throw new IllegalStateException("another node was faster");
      }
      return node;
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /// Takes over the log in this database, with limits so small that every entry is soon sealed.
  public static BlockLog open(String address) {
    return open(address, LogEncryption.none());
  }

  /// Does the same with this encryption.
  static BlockLog open(String address, LogEncryption encryption) {
    return open(address, encryption, UnaryOperator.identity());
  }

  /// Does the same with a store that `wrap` makes.
  static BlockLog open(String address, UnaryOperator<BlockStore> wrap) {
    return open(address, LogEncryption.none(), wrap);
  }

  /// Does the same with a store that `wrap` makes.
  static BlockLog open(String address, LogEncryption encryption, UnaryOperator<BlockStore> wrap) {
    var database = database(address);
    var node = activate(database);
    var store = wrap.apply(new PostgresStore(database, node, SqliteLogTest.SMALL, encryption));
    return PostgresLog.open(
        new PostgresLogDependencies(
            database,
            node,
            TestLogs.TIME,
            TestLogs.THREADS,
            new SecureRandom(),
            SqliteLogTest.SMALL,
            encryption),
        store,
        FatalHandler.NONE);
  }

  /// Begins a transaction that may last as long as a test needs.
  public static void beginLong(Connection connection) throws SQLException {
    Jdbc.execute(connection, "SET idle_in_transaction_session_timeout = 0");
    connection.setAutoCommit(false);
  }

  /// Runs this on a thread of its own.
  public static <T> CompletableFuture<T> inBackground(Callable<T> work) {
    var result = new CompletableFuture<T>();
    TestLogs.THREADS
        .unstarted(
            "test",
            () -> {
              try {
                result.complete(work.call());
              } catch (Exception failed) { // The root of a thread.
                result.completeExceptionally(failed);
              }
            })
        .start();
    return result;
  }

  /// Waits until a statement in the database of `connection` waits for a lock, or `work` has ended.
  public static void awaitLockOrEnd(Connection connection, Future<?> work) throws SQLException {
    while (!work.isDone()
        && Jdbc.number(
                connection,
                "SELECT count(*) FROM pg_stat_activity"
                    + " WHERE datname = current_database() AND wait_event_type = 'Lock'")
            == 0) {
      Thread.onSpinWait();
    }
  }
}
