package dev.parley.log;

import dev.parley.log.PostgresNode.NodeRow;
import dev.parley.runtime.Time;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The state of a PostgreSQL database, as far as the servers that share it depend on it.
///
/// `settings` are those that matter for durability and deletion. `content` is empty if there is no
/// schema yet, or if the user may not read it.
public record PostgresReport(
    PostgresServer server,
    Map<String, String> settings,
    PostgresSchema schema,
    PostgresConnections connections,
    PostgresStandbys standbys,
    Optional<PostgresContent> content) {

  private static final int ROUND_TRIPS = 5;
  private static final double NANOS_PER_MILLI = 1e6;

  public PostgresReport {
    settings = Map.copyOf(settings);
  }

  /// The version as a number, such as 150018, and as text; the user; the time of a round trip;
  /// whether the connection is encrypted, and whether it stays on one machine.
  public record PostgresServer(
      int versionNumber,
      String version,
      String user,
      double roundTripMillis,
      boolean encrypted,
      boolean sameMachine) {}

  /// The version of Parley's schema, 0 if there is none, and the version that this program writes.
  /// `owner` is empty if there is no schema. `forbidden` are the tables that the user may not use.
  /// `mayCreate` and `mayMigrate` tell whether the user may create the schema and change it.
  public record PostgresSchema(
      int version,
      int current,
      String owner,
      List<String> forbidden,
      boolean mayCreate,
      boolean mayMigrate) {
    public PostgresSchema {
      forbidden = List.copyOf(forbidden);
    }
  }

  /// How many connections the user can still open, and how many servers of Parley have open.
  public record PostgresConnections(long free, long ofParley) {}

  /// How many standbys are connected, and how many of them are synchronous. `visible` is false if
  /// the user may not see that.
  public record PostgresStandbys(long connected, long synchronous, boolean visible) {}

  /// The servers that are not dead, the deleted contexts whose data is still there, and the blocks
  /// that are not sealed yet.
  public record PostgresContent(
      List<NodeRow> nodes, long pendingErasures, long blocks, long blockBytes) {
    public PostgresContent {
      nodes = List.copyOf(nodes);
    }
  }

  /// Reads the state of a database. Changes nothing.
  ///
  /// @throws SQLException if the database cannot be reached, or does not reply for `patience`
  public static PostgresReport read(PostgresDatabase database, Duration patience, Time time)
      throws SQLException {
    try (var connection = database.connect(patience)) {
      connection.setReadOnly(true);
      connection.setAutoCommit(false);
      var schema = schema(connection);
      var readable = schema.version() == schema.current() && schema.forbidden().isEmpty();
      return new PostgresReport(
          server(connection, time),
          settings(connection),
          schema,
          connections(connection),
          standbys(connection),
          readable ? Optional.of(content(connection)) : Optional.empty());
    }
  }

  private static PostgresServer server(Connection connection, Time time) throws SQLException {
    var fastest = Double.MAX_VALUE;
    for (var i = 0; i < ROUND_TRIPS; i++) {
      var begun = time.nanos();
      Jdbc.number(connection, "SELECT 1");
      fastest = Math.min(fastest, (time.nanos() - begun) / NANOS_PER_MILLI);
    }
    var millis = fastest;
    return Jdbc.list(
            connection,
            """
            SELECT current_setting('server_version_num')::int, current_setting('server_version'),
              current_user,
              coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
              coalesce(inet_server_addr() = inet_client_addr(), true)
            """,
            row ->
                new PostgresServer(
                    row.getInt(1),
                    row.getString(2),
                    row.getString(3),
                    millis,
                    row.getBoolean(4),
                    row.getBoolean(5)))
        .getFirst();
  }

  private static Map<String, String> settings(Connection connection) throws SQLException {
    var settings = new TreeMap<String, String>();
    Jdbc.list(
        connection,
        """
        SELECT name, setting FROM pg_settings
          WHERE name IN ('fsync', 'full_page_writes', 'autovacuum', 'synchronous_standby_names')
        """,
        row -> settings.put(row.getString(1), row.getString(2)));
    return settings;
  }

  private static PostgresSchema schema(Connection connection) throws SQLException {
    var mayCreate =
        Jdbc.number(connection, "SELECT has_database_privilege(current_database(), 'CREATE')::int")
            > 0;
    var owner =
        Jdbc.list(
            connection,
            "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = ?",
            row -> row.getString(1),
            PostgresDatabase.SCHEMA);
    var current = PostgresDatabase.currentVersion();
    if (owner.isEmpty()) {
      return new PostgresSchema(0, current, "", List.of(), mayCreate, mayCreate);
    }
    var mayMigrate = new ArrayList<Boolean>();
    var forbidden = new ArrayList<String>();
    Jdbc.list(
        connection,
        """
        SELECT relname, pg_has_role(relowner, 'USAGE'),
          has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
            AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
            AND has_table_privilege(c.oid, 'DELETE')
          FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
          WHERE nspname = ? AND relkind = 'r' ORDER BY relname
        """,
        row -> {
          mayMigrate.add(row.getBoolean(2));
          return row.getBoolean(3) || forbidden.add(row.getString(1));
        },
        PostgresDatabase.SCHEMA);
    var version =
        mayMigrate.isEmpty() || forbidden.contains("schema_version")
            ? 0
            : (int) Jdbc.number(connection, "SELECT max(version) FROM schema_version");
    return new PostgresSchema(
        version, current, owner.getFirst(), forbidden, mayCreate, !mayMigrate.contains(false));
  }

  private static PostgresConnections connections(Connection connection) throws SQLException {
    return Jdbc.list(
            connection,
            """
            SELECT least(
                (SELECT sum(CASE name WHEN 'max_connections' THEN setting::bigint
                    ELSE -setting::bigint END) FROM pg_settings
                  WHERE name IN ('max_connections', 'superuser_reserved_connections',
                    'reserved_connections'))
                  - (SELECT sum(numbackends) FROM pg_stat_database),
                (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
                  - (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user),
                (SELECT nullif(datconnlimit, -1) FROM pg_database
                    WHERE datname = current_database())
                  - (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())),
              (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'parley'
                AND datname = current_database() AND pid <> pg_backend_pid())
            """,
            row -> new PostgresConnections(row.getLong(1), row.getLong(2)))
        .getFirst();
  }

  /// Only some users may see the columns of this view, but all may see its rows.
  private static PostgresStandbys standbys(Connection connection) throws SQLException {
    return Jdbc.list(
            connection,
            """
            SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
                count(*) = count(sync_state)
              FROM pg_stat_replication
            """,
            row -> new PostgresStandbys(row.getLong(1), row.getLong(2), row.getBoolean(3)))
        .getFirst();
  }

  private static PostgresContent content(Connection connection) throws SQLException {
    var nodes = PostgresNode.living(connection);
    return Jdbc.list(
            connection,
            """
            SELECT (SELECT count(*) FROM erasures WHERE context > 0), count(*),
              coalesce(sum(octet_length(data)), 0) FROM blocks
            """,
            row -> new PostgresContent(nodes, row.getLong(1), row.getLong(2), row.getLong(3)))
        .getFirst();
  }
}
