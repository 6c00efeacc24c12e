package dev.parley.bench;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.postgresql.PGConnection;

/// Receives each row of a table as a notification of PostgreSQL. The text of the row is in the
/// notification, so the reader needs no query.
final class NotificationReader implements AutoCloseable {

  private static final int WAIT_MILLIS = 100;
  private static final String CHANNEL = "events";

  private final Connection connection;
  private final Consumer<String> receiver;
  private final AtomicLong received = new AtomicLong();
  private final Thread thread;
  private volatile boolean closed;

  /// Lets every insertion into `agent_messages` send a notification, which `receiver` gets on the
  /// thread of this reader.
  NotificationReader(Connection connection, Consumer<String> receiver) {
    this.connection = connection;
    this.receiver = receiver;
    try (var statement = connection.createStatement()) {
      statement.execute(
          """
          CREATE FUNCTION notify_event() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_notify('events', NEW.content); RETURN NULL; END $$
          """);
      statement.execute(
          """
          CREATE TRIGGER notify_event AFTER INSERT ON agent_messages
          FOR EACH ROW EXECUTE FUNCTION notify_event()
          """);
      statement.execute("LISTEN " + CHANNEL);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
    thread = Thread.ofPlatform().daemon().name("bench-notifications").start(this::run);
  }

  /// The number of notifications up to now.
  long received() {
    return received.get();
  }

  private void run() {
    try {
      var notifications = connection.unwrap(PGConnection.class);
      while (!closed) {
        var some = notifications.getNotifications(WAIT_MILLIS);
        if (some == null) {
          continue;
        }
        for (var notification : some) {
          receiver.accept(notification.getParameter());
          received.incrementAndGet();
        }
      }
    } catch (SQLException failed) {
      if (!closed) {
        throw new IllegalStateException(failed);
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
      connection.close();
    } catch (InterruptedException later) {
      Thread.currentThread().interrupt();
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }
}
