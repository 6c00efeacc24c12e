package dev.parley.door;

import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.OpCode;

/// Several frames that are sent with one write.
///
/// Jetty writes the header of the first frame, and then the payload unchanged: so the payload
/// contains the other frames, with their headers. Passing frames to Jetty one by one costs more
/// than all other work for them.
final class FrameRun extends Frame {

  private final int firstLength;

  /// The frames from byte `from` to byte `to`; there must be at least one.
  FrameRun(Parcel parcel, int from, int to) {
    super(OpCode.TEXT, parcel.slice(parcel.payload(from), to));
    this.firstLength = parcel.end(from) - parcel.payload(from);
  }

  @Override
  public int getPayloadLength() {
    return firstLength;
  }
}
