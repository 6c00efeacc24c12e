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

  /// Returns the open writer, or opens one. A writer that was fenced ends this thread: no code that
  /// handles other failures may continue.
  StoreWriter writer() throws SQLException {
    var open = writer;
    if (open == null) {
      try {
        open = store.openWriter();
      } catch (FencedException fenced) {
        throw new FencedError(fenced);
      }
      writer = open;
    }
    return open;
  }

  /// Ends the writer thread, whose log then rejects all appends.
  private static final class FencedError extends Error {
    private static final long serialVersionUID = 1;

    FencedError(FencedException cause) {
      super(cause.getMessage(), cause);
    }
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
