package dev.parley.log;

import dev.parley.log.BlockStore.StoreWriter;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/// The writer of the store. It is opened on demand, and closed after a failure. For one thread.
final class WriterConnection {

  private static final Logger LOG = System.getLogger(WriterConnection.class.getName());

  private final BlockStore store;
  private @Nullable StoreWriter writer;

  WriterConnection(BlockStore store, StoreWriter first) {
    this.store = store;
    this.writer = first;
  }

  StoreWriter writer() throws SQLException {
    var open = writer;
    if (open == null) {
      open = store.openWriter();
      writer = open;
    }
    return open;
  }

  void close() {
    var open = writer;
    writer = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException useless) {
        LOG.log(Level.DEBUG, "closing the store: {0}", useless.getMessage());
      }
    }
  }
}
