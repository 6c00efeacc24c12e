package dev.parley.log;

import java.sql.SQLException;

/// The store in a PostgreSQL database, written by one node.
final class PostgresStore implements BlockStore {

  private final PostgresDatabase database;
  private final PostgresNode node;
  private final int stateEvents;
  private final LogEncryption encryption;

  PostgresStore(
      PostgresDatabase database, PostgresNode node, LogTuning logTuning, LogEncryption encryption) {
    this.database = database;
    this.node = node;
    this.stateEvents = logTuning.stateEvents();
    this.encryption = encryption;
  }

  @Override
  public StoreWriter openWriter() throws SQLException {
    var connection = database.connect();
    var opened = false;
    try {
      var epoch = node.raiseEpoch(connection).orElseThrow(() -> new FencedException(node.id()));
      encryption.openToWrite(connection);
      var writer = new PostgresWriter(connection, node, epoch, stateEvents, encryption);
      opened = true;
      return writer;
    } finally {
      if (!opened) {
        connection.close();
      }
    }
  }

  @Override
  public StoreReader openReader() throws SQLException {
    return new TableReader(database.connectToRead(), encryption);
  }

  @Override
  public LogEncryption encryption() {
    return encryption;
  }

  /// PostgreSQL manages its journal itself.
  @Override
  public long journalBytes() {
    return 0;
  }

  @Override
  public CopyResult copyJournal() {
    return new CopyResult(true, 0);
  }
}
