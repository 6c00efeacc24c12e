package dev.parley.door;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A connection on which both sides send text whenever they like.
///
/// One thread receives; any may send or close.
public interface Socket {

  /// What there is to say on a socket, said on a virtual thread of its own.
  @FunctionalInterface
  interface Handler {

    /// Talks until either side has enough; then the socket is closed.
    ///
    /// @throws IOException if the peer has left, or no longer reads
    void handle(Socket socket) throws IOException, InterruptedException;
  }

  /// Waits for the next message. None if the socket is closed, by whomever.
  @Nullable String receive() throws InterruptedException;

  /// Sends these messages in this order, and returns when they are on their way.
  ///
  /// Waits while the peer does not read. What several threads send is sent in the order in which they came.
  ///
  /// @throws IOException if the peer has left, or has not read for too long and was sent away
  void send(List<Parcel> parcels) throws IOException, InterruptedException;

  /// Sends a message.
  default void send(String text) throws IOException, InterruptedException {
    send(List.of(Parcel.of(text)));
  }

  /// Says why this is the end. Does not wait; whoever receives gets nothing more.
  ///
  /// @param code such as 1000, of those that RFC 6455 lists
  void close(int code, String reason);
}
