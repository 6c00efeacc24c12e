package dev.parley.log;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.sql.SQLException;

/// The store in one SQLite file. Its journal is SQLite's write-ahead log.
final class SqliteStore implements BlockStore {

  static final String FILE = "log.db";

  private static final Logger LOG = System.getLogger(SqliteStore.class.getName());

  private final LogDatabase logDatabase;
  private final int stateEvents;
  private final LogEncryption encryption;

  SqliteStore(Path folder, LogTuning logTuning, LogEncryption encryption) {
    this.logDatabase = new LogDatabase(folder.resolve(FILE), logTuning.walBytes());
    this.stateEvents = logTuning.stateEvents();
    this.encryption = encryption;
  }

  @Override
  public StoreWriter openWriter() throws SQLException {
    var connection = logDatabase.openWriter();
    var opened = false;
    try {
      encryption.openToWrite(connection);
      connection.commit();
      var writer = new SqliteWriter(connection, stateEvents, encryption);
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
    return new TableReader(logDatabase.openReader(), encryption);
  }

  @Override
  public LogEncryption encryption() {
    return encryption;
  }

  @Override
  public long journalBytes() {
    return logDatabase.walBytes();
  }

  @Override
  public CopyResult copyJournal() {
    try (var connection = logDatabase.openReader()) {
      Jdbc.execute(connection, "PRAGMA query_only = OFF");
      try (var statement = connection.createStatement();
          var rows = statement.executeQuery("PRAGMA wal_checkpoint(PASSIVE)")) {
        return rows.next() && rows.getLong(1) == 0
            ? new CopyResult(true, rows.getLong(2) - rows.getLong(3))
            : new CopyResult(false, 0);
      }
    } catch (SQLException putOff) {
      LOG.log(Level.DEBUG, "checkpoint postponed: {0}", putOff.getMessage());
      return new CopyResult(false, 0);
    }
  }
}
