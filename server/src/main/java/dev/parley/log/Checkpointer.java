package dev.parley.log;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.concurrent.Semaphore;

/// A thread that copies the write-ahead log into the database while the writer goes on writing.
///
/// It cannot quite catch up with a busy writer; the writer itself then copies the little that is left
/// and starts the write-ahead log anew.
final class Checkpointer implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Checkpointer.class.getName());

  private final Database database;
  private final Semaphore requests = new Semaphore(0);
  private volatile boolean done;
  private final Thread thread;

  Checkpointer(Database database) {
    this.database = database;
    this.thread = Thread.ofPlatform().daemon().name("parley-log-checkpointer").start(this::run);
  }

  void request() {
    requests.release();
  }

  /// True, once, when a checkpoint has been made since the last time.
  boolean takeDone() {
    var was = done;
    done = false;
    return was;
  }

  private void run() {
    try {
      while (true) {
        requests.acquire();
        requests.drainPermits();
        checkpoint();
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private void checkpoint() {
    try (var connection = database.openReader()) {
      Database.execute(connection, "PRAGMA query_only = OFF");
      Database.execute(connection, "PRAGMA wal_checkpoint(PASSIVE)");
      done = true;
    } catch (SQLException putOff) {
      LOG.log(Level.DEBUG, "checkpoint put off: {0}", putOff.getMessage());
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    Threads.join(thread);
  }
}
