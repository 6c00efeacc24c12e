package dev.parley.log;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/// The writer's connection. It is opened on demand, and closed after a failure. For one thread.
final class StoreHandle {

  private static final Logger LOG = System.getLogger(StoreHandle.class.getName());

  private final Database database;
  private @Nullable BlockTable table;

  StoreHandle(Database database, BlockTable table) {
    this.database = database;
    this.table = table;
  }

  BlockTable table() throws SQLException {
    var open = table;
    if (open == null) {
      open = new BlockTable(database.openWriter());
      table = open;
    }
    return open;
  }

  void close() {
    var open = table;
    table = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException useless) {
        LOG.log(Level.DEBUG, "closing the store: {0}", useless.getMessage());
      }
    }
  }
}
