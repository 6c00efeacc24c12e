package dev.parley.log;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// A PostgreSQL database that several servers share: its connections, its schema and the schema's
/// migrations. Thread-safe.
public final class PostgresDatabase {

  private static final Logger LOG = System.getLogger(PostgresDatabase.class.getName());

  /// The tables are in a schema of their own, so that the database may contain others.
  static final String SCHEMA = "parley";

  /// Only one server migrates at a time. The number is arbitrary, but must never change.
  private static final long MIGRATION_LOCK = 7_264_391_055_183L;

  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);

  /// A database that does not reply for so long is treated as a lost connection. It is longer than
  /// a standby usually needs, for which commits wait.
  private static final Duration REPLY_MAX = Duration.ofSeconds(30);

  private static final int SECRET_BYTES = 32;

  /// The SQL state of a table that does not exist, or that the user may not see.
  private static final String UNDEFINED_TABLE = "42P01";

  /// Each step takes the schema from one version to the next. Steps are added, never edited.
  private static final List<List<String>> MIGRATIONS =
      List.of(
          List.of(
              // One row for each start of a server. Each commit of the active node updates its row,
              // and free space in the page makes that cheap.
              """
              CREATE TABLE nodes (
                id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
                address TEXT NOT NULL,
                version TEXT NOT NULL,
                epoch BIGINT NOT NULL DEFAULT 1,
                state TEXT NOT NULL DEFAULT 'standby'
                  CHECK (state IN ('standby', 'active', 'dead')),
                drain BOOLEAN NOT NULL DEFAULT false,
                last_block BIGINT NOT NULL DEFAULT 0,
                started TIMESTAMPTZ NOT NULL DEFAULT now()) WITH (fillfactor = 10)
              """,
              "CREATE UNIQUE INDEX nodes_one_active ON nodes (state) WHERE state = 'active'",
              // A table of its own, so that a sign of life never waits for a commit of the log.
              """
              CREATE TABLE beats (
                node BIGINT PRIMARY KEY,
                beats BIGINT NOT NULL DEFAULT 0,
                at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()) WITH (fillfactor = 10)
              """,
              // One row: the name of the log, and what the nodes authenticate each other with.
              """
              CREATE TABLE cluster (
                name UUID PRIMARY KEY DEFAULT gen_random_uuid(),
                secret BYTEA NOT NULL)
              """,
              """
              CREATE TABLE contexts (
                number BIGINT PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                owner TEXT NOT NULL,
                secret BYTEA,
                sealed BIGINT NOT NULL DEFAULT 0,
                state BYTEA,
                open_tasks INTEGER NOT NULL DEFAULT 0,
                touched BIGINT NOT NULL,
                deleted INTEGER NOT NULL DEFAULT 0,
                deleted_by TEXT,
                deleted_at BIGINT)
              """,
              "CREATE INDEX contexts_by_touched ON contexts (touched)",
              "CREATE INDEX contexts_with_open_tasks ON contexts (number) WHERE open_tasks > 0",
              "CREATE TABLE blocks (id BIGINT PRIMARY KEY, data BYTEA NOT NULL)",
              // Chunks are compressed already, or too small for it.
              "ALTER TABLE blocks ALTER COLUMN data SET STORAGE EXTERNAL",
              """
              CREATE TABLE segments (
                context BIGINT NOT NULL,
                last BIGINT NOT NULL,
                data BYTEA NOT NULL,
                PRIMARY KEY (context, last))
              """,
              "ALTER TABLE segments ALTER COLUMN data SET STORAGE EXTERNAL",
              """
              CREATE TABLE keys (
                context BIGINT NOT NULL,
                principal TEXT NOT NULL,
                key TEXT NOT NULL,
                hash TEXT NOT NULL,
                first BIGINT NOT NULL,
                last BIGINT NOT NULL,
                PRIMARY KEY (context, principal, key))
              """,
              """
              CREATE TABLE shares (
                context BIGINT NOT NULL,
                last BIGINT NOT NULL,
                source BIGINT NOT NULL,
                secret BYTEA NOT NULL,
                PRIMARY KEY (context, last))
              """,
              "CREATE INDEX shares_by_source ON shares (source, last)",
              """
              CREATE TABLE states (
                context BIGINT NOT NULL,
                last BIGINT NOT NULL,
                data BYTEA NOT NULL,
                PRIMARY KEY (context, last))
              """,
              """
              CREATE TABLE artifact_heads (
                context BIGINT NOT NULL,
                artifact TEXT NOT NULL,
                data BYTEA NOT NULL,
                PRIMARY KEY (context, artifact))
              """,
              "CREATE TABLE erasures (context BIGINT PRIMARY KEY)",
              // The encrypted credentials: at most one row.
              "CREATE TABLE vault (id INTEGER PRIMARY KEY CHECK (id = 1), data BYTEA NOT NULL)",
              // The webhooks of A2A tasks.
              """
              CREATE TABLE targets (
                context TEXT NOT NULL,
                task TEXT NOT NULL,
                id TEXT NOT NULL,
                version TEXT NOT NULL,
                sealed BYTEA NOT NULL,
                cursor TEXT NOT NULL,
                state TEXT NOT NULL,
                generation BIGINT NOT NULL,
                changed BIGINT NOT NULL,
                PRIMARY KEY (context, task, id))
              """),
          List.of(
              // Pauses, approval rules, and what counts against budgets.
              """
              CREATE TABLE controls (
                kind TEXT NOT NULL,
                id TEXT NOT NULL,
                data TEXT NOT NULL,
                PRIMARY KEY (kind, id))
              """),
          List.of(
              "ALTER TABLE contexts ADD COLUMN data_key BYTEA",
              "CREATE TABLE wrapping_keys (id BIGINT PRIMARY KEY, wrapped BYTEA NOT NULL)"),
          // The audit trail: its records, and the ends of their chain in one row.
          List.of(
              """
              CREATE TABLE audit_records (
                number BIGINT PRIMARY KEY,
                time BIGINT NOT NULL,
                principal TEXT NOT NULL,
                tenant TEXT NOT NULL,
                action TEXT NOT NULL,
                target TEXT NOT NULL,
                result TEXT NOT NULL,
                body TEXT NOT NULL,
                hash TEXT NOT NULL)
              """,
              "CREATE INDEX audit_by_time ON audit_records (time)",
              "CREATE INDEX audit_by_principal ON audit_records (principal, number)",
              """
              CREATE TABLE audit_state (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                head_number BIGINT NOT NULL,
                head_hash TEXT NOT NULL,
                anchor_number BIGINT NOT NULL,
                anchor_hash TEXT NOT NULL)
              """),
          List.of(
              // Keys, people and shared contexts, as JSON.
              """
              CREATE TABLE identities (
                kind TEXT NOT NULL,
                id TEXT NOT NULL,
                data TEXT NOT NULL,
                PRIMARY KEY (kind, id))
              """));

  private final PostgresAddress address;

  /// The connections that [#abandon] ends; null if it is never called.
  private final @Nullable Set<Connection> open;

  private volatile boolean abandoned;

  public PostgresDatabase(PostgresAddress address) {
    this(address, null);
  }

  private PostgresDatabase(PostgresAddress address, @Nullable Set<Connection> open) {
    this.address = address;
    this.open = open;
  }

  /// The same database, for work that may have to end at any moment: see [#abandon].
  public PostgresDatabase abandonable() {
    return new PostgresDatabase(address, ConcurrentHashMap.newKeySet());
  }

  /// Ends all connections at once, also those that wait for the database, and opens no others.
  public void abandon() {
    abandoned = true;
    if (open != null) {
      open.forEach(PostgresDatabase::abort);
    }
  }

  private static void abort(Connection connection) {
    try {
      connection.abort(Runnable::run);
    } catch (SQLException useless) {
      LOG.log(Level.DEBUG, "ending a connection: {0}", useless.getMessage());
    }
  }

  /// The version of the schema that this program writes.
  static int currentVersion() {
    return MIGRATIONS.size();
  }

  /// What identifies the log in this database, and what its nodes authenticate each other with.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  public record ClusterIdentity(String name, byte[] secret) {

    /// Derives a key of 32 bytes for one purpose, in base64.
    public String deriveKey(String purpose) {
      try {
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        return Base64.getEncoder()
            .encodeToString(mac.doFinal(purpose.getBytes(StandardCharsets.UTF_8)));
      } catch (GeneralSecurityException missing) {
        throw new IllegalStateException("this JVM has no HMAC", missing);
      }
    }

    /// Never shows the secret.
    @Override
    public String toString() {
      return name;
    }
  }

  /// The address, without the password.
  @Override
  public String toString() {
    return address.toString();
  }

  /// Opens a connection that commits each statement. A transaction that its server does not end is
  /// ended by the database, so that it blocks other servers only briefly.
  public Connection connect() throws SQLException {
    return connect(REPLY_MAX);
  }

  /// Opens a connection that fails if the database does not reply for `patience`.
  public Connection connect(Duration patience) throws SQLException {
    var connection = openConnection(patience);
    if (open != null) {
      open.removeIf(PostgresDatabase::isClosed);
      open.add(connection);
      if (abandoned) {
        abort(connection);
        throw new SQLException("this server has given up its role");
      }
    }
    return connection;
  }

  /// Asks only the driver.
  private static boolean isClosed(Connection connection) {
    try {
      return connection.isClosed();
    } catch (SQLException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private Connection openConnection(Duration patience) throws SQLException {
    if (abandoned) {
      throw new SQLException("this server has given up its role");
    }
    var properties = address.properties();
    properties.setProperty("ApplicationName", "parley");
    properties.setProperty("currentSchema", SCHEMA);
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty("targetServerType", "primary");
    properties.setProperty(
        "connectTimeout", seconds(patience.compareTo(CONNECT_MAX) < 0 ? patience : CONNECT_MAX));
    properties.setProperty("socketTimeout", seconds(patience));
    var connection = DriverManager.getConnection(address.jdbcUrl(), properties);
    try {
      // Returns only after the commit is on the disk, and on the synchronous standby if there is
      // one.
      Jdbc.execute(connection, "SET synchronous_commit = on");
      Jdbc.execute(connection, "SET idle_in_transaction_session_timeout = '2s'");
      return connection;
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }

  /// Opens a connection for reading the log. It sees only what a failover keeps: after a restart of
  /// the database, a commit can be visible that no standby has, and this waits until it has.
  Connection connectToRead() throws SQLException {
    var connection = connect();
    try {
      // Any commit will do that writes something.
      Jdbc.execute(connection, "UPDATE cluster SET secret = secret");
      return connection;
    } catch (SQLException failed) {
      connection.close();
      throw failed;
    }
  }

  private static String seconds(Duration duration) {
    return Long.toString(duration.toSeconds());
  }

  /// The identity of the log in this database.
  public ClusterIdentity identity() throws SQLException {
    try (var connection = connect()) {
      return Jdbc.list(
              connection,
              "SELECT name, secret FROM cluster",
              row -> new ClusterIdentity(row.getString(1), row.getBytes(2)))
          .getFirst();
    }
  }

  /// Creates the schema, or migrates it to the current version.
  ///
  /// @throws SQLException if the database cannot be used, or a newer version has written it
  public void migrate() throws SQLException {
    try (var connection = connect()) {
      connection.setAutoCommit(false);
      Jdbc.execute(connection, "SELECT pg_advisory_xact_lock(" + MIGRATION_LOCK + ")");
      Jdbc.execute(connection, "CREATE SCHEMA IF NOT EXISTS " + SCHEMA);
      Jdbc.execute(
          connection, "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
      var version = versionNotNewer(connection);
      for (var step : MIGRATIONS.subList(version, MIGRATIONS.size())) {
        for (var statement : step) {
          Jdbc.execute(connection, statement);
        }
      }
      if (version < MIGRATIONS.size()) {
        Jdbc.execute(connection, "DELETE FROM schema_version");
        Jdbc.update(connection, "INSERT INTO schema_version VALUES (?)", MIGRATIONS.size());
      }
      if (Jdbc.number(connection, "SELECT count(*) FROM cluster") == 0) {
        var secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        Jdbc.update(connection, "INSERT INTO cluster (secret) VALUES (?)", (Object) secret);
      }
      connection.commit();
    }
  }

  /// The version of the schema; 0 if it has none yet.
  ///
  /// @throws SQLException if a newer version of this program has migrated it
  static int versionNotNewer(Connection connection) throws SQLException {
    var version = (int) Jdbc.number(connection, "SELECT max(version) FROM schema_version");
    if (version > MIGRATIONS.size()) {
      throw new SQLException(
          "a newer version of Parley wrote the log (schema " + version + "); use that version");
    }
    return version;
  }

  /// Checks that the schema has the current version, for which reading is enough.
  ///
  /// @throws SQLException if it has another version, or if there is none
  static void check(Connection connection) throws SQLException {
    int version;
    try {
      version = versionNotNewer(connection);
    } catch (SQLException failed) {
      throw UNDEFINED_TABLE.equals(failed.getSQLState())
          ? new SQLException("the database has no log of Parley", failed)
          : failed;
    }
    if (version < MIGRATIONS.size()) {
      throw new SQLException(
          "an older version of Parley wrote the log (schema %d); start a server of this version first"
              .formatted(version));
    }
  }
}
