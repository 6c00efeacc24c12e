package dev.parley.control;

import dev.parley.log.OwnerOnlyFiles;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/// The database with the table `controls`. Its text names it in messages.
public interface ControlDatabase {

  /// False if the database does not exist yet, so that there is nothing to read.
  boolean exists();

  /// Opens a connection that commits each statement. The table exists.
  Connection connect() throws SQLException;

  /// A condition that holds until the end of the transaction that checks it. It becomes false, for
  /// ever, when another server takes over the table.
  String writable();

  /// A SQLite file, which the first write creates.
  static ControlDatabase file(Path file) {
    return new ControlFile(file);
  }

  /// The database of a cluster. Only its active node writes the table.
  static ControlDatabase shared(PostgresDatabase database, PostgresNode node) {
    return new SharedControls(database, node);
  }

  /// A SQLite file.
  record ControlFile(Path file) implements ControlDatabase {

    @Override
    public boolean exists() {
      return Files.exists(file);
    }

    @Override
    public Connection connect() throws SQLException {
      OwnerOnlyFiles.createFile(file);
      var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
      try (var statement = connection.createStatement()) {
        statement.execute("PRAGMA journal_mode = WAL");
        statement.execute("PRAGMA synchronous = FULL");
        statement.execute(
            """
            CREATE TABLE IF NOT EXISTS controls (
              kind TEXT NOT NULL,
              id TEXT NOT NULL,
              data TEXT NOT NULL,
              PRIMARY KEY (kind, id)
            ) WITHOUT ROWID
            """);
        return connection;
      } catch (SQLException failed) {
        connection.close();
        throw failed;
      }
    }

    @Override
    public String writable() {
      return "TRUE";
    }

    @Override
    public String toString() {
      return file.toString();
    }
  }

  /// A table of the database of a cluster.
  record SharedControls(PostgresDatabase database, PostgresNode node) implements ControlDatabase {

    @Override
    public boolean exists() {
      return true;
    }

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
}
