package dev.parley.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/// Writes frames until its reader disconnects or the stream ends.
@FunctionalInterface
public interface FrameStream {

  /// About how many bytes a stream writes at once.
  int WRITE_BYTES = 64 * 1024;

  /// Writes everything to `sink`, on the calling thread, unless the stream detaches its connection
  /// from the thread (see [FrameSink#detach]): then it continues after this method has returned.
  ///
  /// @throws IOException if the reader has disconnected or no longer reads
  void run(FrameSink frameSink) throws IOException;

  /// Receives frames.
  @FunctionalInterface
  interface FrameSink {

    /// Sends the bytes at once and returns when they are handed to the network.
    void write(ByteBuffer frames) throws IOException;

    /// Registers `possiblyDisconnected`, which is called once, by another thread, if the reader may
    /// have disconnected. Two writes then show whether it has.
    default void onPossibleDisconnect(Runnable possiblyDisconnected) {}

    /// Detaches the connection from the request and its thread. The stream then owns the
    /// connection, and this sink must not be used any more. Empty if the connection cannot be
    /// detached.
    default Optional<DetachedSink> detach() {
      return Optional.empty();
    }
  }

  /// A connection that a stream owns. For one thread at a time.
  interface DetachedSink extends FrameSink {

    /// What has become of a write that does not block.
    enum WriteResult {
      /// Everything was handed to the network.
      DONE,
      /// The network accepts no more at the moment. The rest is written later, and then the listener
      /// is called.
      LATER,
      /// The reader has disconnected.
      FAILED
    }

    /// Learns that a write has ended that could not be done at once. Called on any thread; must not
    /// block.
    @FunctionalInterface
    interface WriteListener {
      void written(boolean succeeded);
    }

    /// Writes without blocking. If this returns `LATER`, nothing else may be written until the
    /// listener is called. The chunk can be used again in any case.
    WriteResult writeNow(ChunkBuffer chunk, WriteListener listener);

    /// Ends the response. The connection is then ready for the next request, or closed if the
    /// server stops.
    void finish() throws IOException;

    /// Closes the connection.
    void abort();
  }
}
