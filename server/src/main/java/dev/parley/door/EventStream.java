package dev.parley.door;

import java.io.IOException;
import java.nio.ByteBuffer;

/// Writes frames until its reader disconnects or the stream ends.
@FunctionalInterface
public interface EventStream {

  /// Writes everything to `sink`, on the calling thread.
  ///
  /// @throws IOException if the reader has disconnected or no longer reads
  void run(Sink sink) throws IOException;

  /// Receives frames.
  @FunctionalInterface
  interface Sink {

    /// Sends the bytes at once and returns when they are handed to the network.
    void write(ByteBuffer frames) throws IOException;

    /// Registers `doubt`, which is called once, by another thread, if the reader may have
    /// disconnected. Two writes then show whether it has.
    default void whenInDoubt(Runnable doubt) {}
  }
}
