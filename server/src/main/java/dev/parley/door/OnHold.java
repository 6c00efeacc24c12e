package dev.parley.door;

import java.io.IOException;

/// A request whose reply takes long, and whose caller may disconnect meanwhile. For one thread.
///
/// It counts as a stream: it lasts as long as one, and ends when all streams end.
public final class OnHold implements AutoCloseable {

  /// The connection to the caller, before the reply.
  interface Connection {

    /// Registers `doubt`, which is called once, by another thread, if the caller may have
    /// disconnected. Two interim responses then show whether it has. The returned action stops
    /// watching.
    Runnable watch(Runnable doubt);

    /// Sends an interim response.
    ///
    /// @throws IOException if the caller has disconnected
    void beat() throws IOException;
  }

  private final Connection connection;
  private final Streams.Open open;
  private final Runnable callOff;

  OnHold(Connection connection, Streams streams) {
    this.connection = connection;
    this.open = streams.open();
    this.callOff = connection.watch(open::nudge);
  }

  /// True once the caller has disconnected, or the server stops.
  public boolean ended() {
    return open.ended();
  }

  /// Returns the result of `wait`; false if it was interrupted, for example by a disconnect.
  public boolean await(Streams.Wait wait) {
    var came = open.await(wait);
    if (open.nudged()) {
      try {
        Pulse.probe(connection::beat);
      } catch (IOException hungUp) {
        open.end();
      }
    }
    return came;
  }

  @Override
  public void close() {
    callOff.run();
    open.close();
  }
}
