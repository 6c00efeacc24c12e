package dev.parley.door;

import java.io.IOException;

/// A caller who waits for an answer that takes its time, and may hang up meanwhile. For one thread.
///
/// Takes a place among the streams: it is as long, and ends with them.
public final class OnHold implements AutoCloseable {

  /// The way to the caller, before anything was answered.
  interface Connection {

    /// Has `doubt` called, by another thread and once, if the caller may have hung up: beating twice tells. Returns how
    /// to call that off.
    Runnable watch(Runnable doubt);

    /// Says that the answer is to come.
    ///
    /// @throws IOException if the caller has hung up
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

  /// True once nobody waits for the answer any more, or the server stops.
  public boolean ended() {
    return open.ended();
  }

  /// What `wait` returns; false if it was interrupted, perhaps because nobody needs to wait any more.
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
