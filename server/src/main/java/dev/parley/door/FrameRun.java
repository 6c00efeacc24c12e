package dev.parley.door;

import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.OpCode;

/// Frames of a parcel that go out with one write.
///
/// Jetty writes the head of the first, and then the payload as it is: so the others stand in that, with
/// their heads. Frames that Jetty is given one by one would each cost more than all the rest of their way.
final class FrameRun extends Frame {

  private final int firstLength;

  /// Those from `from` to `to`, of which there must be one.
  FrameRun(Parcel parcel, int from, int to) {
    super(OpCode.TEXT, parcel.slice(parcel.payload(from), to));
    this.firstLength = parcel.end(from) - parcel.payload(from);
  }

  @Override
  public int getPayloadLength() {
    return firstLength;
  }
}
