package dev.parley.api.a2a.push;

import dev.parley.runtime.Time;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;

/// The database with the table of webhooks. Its text names it in messages.
@FunctionalInterface
public interface PushDatabase {

  /// Opens a connection that commits each statement. The table exists.
  Connection connect() throws SQLException;

  /// A SQLite file, which is created if it does not exist.
  static PushDatabase file(Path file, Time time) {
    return new PushConfigStore.PushFile(file, time);
  }
}
