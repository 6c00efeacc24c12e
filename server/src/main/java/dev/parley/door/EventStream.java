package dev.parley.door;

import java.io.IOException;
import java.nio.ByteBuffer;

/// Something that writes frames until its reader leaves or there is nothing more to say.
@FunctionalInterface
public interface EventStream {

  /// Writes everything to `sink`, on the calling thread.
  ///
  /// @throws IOException if the reader has left or no longer reads
  void run(Sink sink) throws IOException;

  /// Where frames go.
  @FunctionalInterface
  interface Sink {

    /// Sends the bytes at once and returns when they are on their way.
    void write(ByteBuffer frames) throws IOException;

    /// Has `doubt` called, by another thread and once, if the reader may have left: writing twice tells.
    default void whenInDoubt(Runnable doubt) {}
  }
}
