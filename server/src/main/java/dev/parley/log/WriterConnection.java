package dev.parley.log;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/// The writer's connection. It is opened on demand, and closed after a failure. For one thread.
final class WriterConnection {

  private static final Logger LOG = System.getLogger(WriterConnection.class.getName());

  private final LogDatabase logDatabase;
  private @Nullable LogStatements statements;

  WriterConnection(LogDatabase logDatabase, LogStatements table) {
    this.logDatabase = logDatabase;
    this.statements = table;
  }

  LogStatements statements() throws SQLException {
    var open = statements;
    if (open == null) {
      open = new LogStatements(logDatabase.openWriter());
      statements = open;
    }
    return open;
  }

  void close() {
    var open = statements;
    statements = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException useless) {
        LOG.log(Level.DEBUG, "closing the store: {0}", useless.getMessage());
      }
    }
  }
}
