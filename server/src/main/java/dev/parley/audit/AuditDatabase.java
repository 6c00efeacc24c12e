package dev.parley.audit;

import dev.parley.log.OwnerOnlyFiles;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/// The database with the tables of the audit trail. Its text names it in messages.
public interface AuditDatabase {

  /// Opens a connection that commits each statement. The tables exist.
  Connection connect() throws SQLException;

  /// A condition of each write. It becomes false, for ever, when another server takes over.
  default String writable() {
    return "TRUE";
  }

  /// True if the database exists already, so that it can be read without creating it.
  boolean exists();

  /// A SQLite file, which is created with the first record.
  static AuditDatabase file(Path file) {
    return new AuditFile(file);
  }

  /// The database of a cluster. Only its active node writes the tables.
  static AuditDatabase shared(PostgresDatabase database, PostgresNode node) {
    return new SharedAuditTable(database, node);
  }

  /// A SQLite file in the data folder.
  record AuditFile(Path file) implements AuditDatabase {

    private static final String RECORDS =
        """
        CREATE TABLE IF NOT EXISTS audit_records (
          number INTEGER PRIMARY KEY,
          time INTEGER NOT NULL,
          principal TEXT NOT NULL,
          tenant TEXT NOT NULL,
          action TEXT NOT NULL,
          target TEXT NOT NULL,
          result TEXT NOT NULL,
          body TEXT NOT NULL,
          hash TEXT NOT NULL)
        """;
    private static final String STATE =
        """
        CREATE TABLE IF NOT EXISTS audit_state (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          head_number INTEGER NOT NULL,
          head_hash TEXT NOT NULL,
          anchor_number INTEGER NOT NULL,
          anchor_hash TEXT NOT NULL)
        """;

    @Override
    public Connection connect() throws SQLException {
      OwnerOnlyFiles.createFile(file);
      var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
      try (var statement = connection.createStatement()) {
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("PRAGMA synchronous = FULL");
        statement.execute(RECORDS);
        statement.execute("CREATE INDEX IF NOT EXISTS audit_by_time ON audit_records (time)");
        statement.execute(
            "CREATE INDEX IF NOT EXISTS audit_by_principal ON audit_records (principal, number)");
        statement.execute(STATE);
        return connection;
      } catch (SQLException failed) {
        connection.close();
        throw failed;
      }
    }

    @Override
    public boolean exists() {
      return file.toFile().exists();
    }

    @Override
    public String toString() {
      return file.toString();
    }
  }

  /// The tables in the database of a cluster.
  record SharedAuditTable(PostgresDatabase database, PostgresNode node) implements AuditDatabase {

    @Override
    public Connection connect() throws SQLException {
      return database.connect();
    }

    @Override
    public String writable() {
      return node.activeCondition();
    }

    @Override
    public boolean exists() {
      return true;
    }

    @Override
    public String toString() {
      return database.toString();
    }
  }
}
