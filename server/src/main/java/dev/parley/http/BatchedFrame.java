package dev.parley.http;

import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.OpCode;

/// Several frames that are sent with one write.
///
/// Jetty writes the header of the first frame, and then the payload unchanged: so the payload
/// contains the other frames, with their headers. Passing frames to Jetty one by one costs more
/// than all other work for them.
final class BatchedFrame extends Frame {

  private final int firstLength;

  /// The frames from byte `from` to byte `to`; there must be at least one.
  BatchedFrame(EncodedFrames encodedFrames, int from, int to) {
    super(OpCode.TEXT, encodedFrames.slice(encodedFrames.payload(from), to));
    this.firstLength = encodedFrames.end(from) - encodedFrames.payload(from);
  }

  @Override
  public int getPayloadLength() {
    return firstLength;
  }
}
