package dev.parley.identity;

import dev.parley.log.OwnerOnlyFiles;
import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.protocol.Rejection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/// The database with the table of keys, people and shared contexts. Its text names it in messages.
public interface IdentityDatabase {

  /// True if the database exists already. A server that has never issued a credential has none.
  boolean exists();

  /// Opens a connection that commits each statement. The table exists.
  Connection connect() throws SQLException;

  /// True if a tenant was created beside the default one.
  ///
  /// @throws Rejection.Unavailable if the database cannot be read
  default boolean severalTenants() {
    if (!exists()) {
      return false;
    }
    try (var connection = connect();
        var statement = connection.prepareStatement("SELECT 1 FROM identities WHERE kind = ?")) {
      statement.setString(1, IdentityStore.RecordKind.TENANT.text());
      statement.setMaxRows(1);
      try (var rows = statement.executeQuery()) {
        return rows.next();
      }
    } catch (SQLException failed) {
      throw new Rejection.Unavailable(
          "the identities in " + this + " cannot be read: " + failed.getMessage());
    }
  }

  /// A condition that each write contains. It becomes false, for ever, when another server takes over
  /// the table.
  String writable();

  /// A SQLite file, which is created for the first write.
  static IdentityDatabase file(Path file) {
    return new IdentityFile(file);
  }

  /// The database of a cluster. Only its active node writes the table.
  static IdentityDatabase shared(PostgresDatabase database, PostgresNode node) {
    return new SharedIdentityTable(database, node);
  }

  /// The table in a SQLite file that only its owner can read.
  record IdentityFile(Path file) implements IdentityDatabase {

    private static final String SCHEMA =
        """
        CREATE TABLE IF NOT EXISTS identities (
          kind TEXT NOT NULL,
          id TEXT NOT NULL,
          data TEXT NOT NULL,
          PRIMARY KEY (kind, id)
        ) WITHOUT ROWID
        """;

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
        statement.execute("PRAGMA secure_delete = ON");
        statement.execute(SCHEMA);
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

  /// The table in the database of a cluster.
  record SharedIdentityTable(PostgresDatabase database, PostgresNode node)
      implements IdentityDatabase {

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
