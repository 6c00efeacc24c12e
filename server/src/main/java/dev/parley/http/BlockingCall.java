package dev.parley.http;

import java.io.IOException;

/// A request whose reply takes long, and whose caller may disconnect meanwhile. For one thread.
///
/// It counts as a stream: it lasts as long as one, and ends when all streams end.
public final class BlockingCall implements AutoCloseable {

  /// The connection to the caller, before the reply.
  interface CallerConnection {

    /// Registers `doubt`, which is called once, by another thread, if the caller may have
    /// disconnected. Two interim responses then show whether it has. The returned action stops
    /// watching.
    Runnable watch(Runnable doubt);

    /// Sends an interim response.
    ///
    /// @throws IOException if the caller has disconnected
    void sendInterim() throws IOException;
  }

  private final CallerConnection callerConnection;
  private final OpenStreams.StreamSlot streamSlot;
  private final Runnable stopWatching;

  BlockingCall(CallerConnection callerConnection, OpenStreams openStreams) {
    this.callerConnection = callerConnection;
    this.streamSlot = openStreams.open();
    this.stopWatching = callerConnection.watch(streamSlot::requestProbe);
  }

  /// True once the caller has disconnected, or the server stops.
  public boolean ended() {
    return streamSlot.ended();
  }

  /// Returns the result of `wait`; false if it was interrupted, for example by a disconnect.
  public boolean await(OpenStreams.InterruptibleWait interruptibleWait) {
    var came = streamSlot.await(interruptibleWait);
    if (streamSlot.takeProbeRequest()) {
      try {
        HeartbeatTimer.probe(callerConnection::sendInterim);
      } catch (IOException hungUp) {
        streamSlot.end();
      }
    }
    return came;
  }

  @Override
  public void close() {
    stopWatching.run();
    streamSlot.close();
  }
}
