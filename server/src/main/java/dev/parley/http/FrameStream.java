package dev.parley.http;

import java.io.IOException;
import java.nio.ByteBuffer;

/// Writes frames until its reader disconnects or the stream ends.
@FunctionalInterface
public interface FrameStream {

  /// About how many bytes a stream writes at once.
  int WRITE_BYTES = 64 * 1024;

  /// Writes everything to `sink`, on the calling thread.
  ///
  /// @throws IOException if the reader has disconnected or no longer reads
  void run(FrameSink frameSink) throws IOException;

  /// Receives frames.
  @FunctionalInterface
  interface FrameSink {

    /// Sends the bytes at once and returns when they are handed to the network.
    void write(ByteBuffer frames) throws IOException;

    /// Registers `doubt`, which is called once, by another thread, if the reader may have
    /// disconnected. Two writes then show whether it has.
    default void onPossibleDisconnect(Runnable doubt) {}
  }
}
