package dev.parley.api.a2a.push;

import dev.parley.log.PostgresDatabase;
import dev.parley.log.PostgresNode;
import dev.parley.runtime.Time;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;

/// The database with the table of webhooks. Its text names it in messages.
@FunctionalInterface
public interface PushDatabase {

  /// Opens a connection that commits each statement. The table exists.
  Connection connect() throws SQLException;

  /// A condition that each write contains. It becomes false, for ever, when another server takes over
  /// the table.
  default String writable() {
    return "TRUE";
  }

  /// A SQLite file, which is created if it does not exist.
  static PushDatabase file(Path file, Time time) {
    return new PushConfigStore.PushFile(file, time);
  }

  /// The database of a cluster. Only its active node writes the table.
  static PushDatabase shared(PostgresDatabase database, PostgresNode node) {
    return new PushConfigStore.SharedPushTable(database, node);
  }
}
