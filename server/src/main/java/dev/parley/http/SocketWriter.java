package dev.parley.http;

import dev.parley.runtime.Time;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.core.CoreSession;
import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.OpCode;
import org.jspecify.annotations.Nullable;

/// Writes to a WebSocket: one caller at a time, in the order of their calls.
///
/// It sends data in pieces, each of many small messages or of a part of a large one, and sends the
/// next piece only when the operating system has accepted the one before. So at most one piece
/// waits here for a peer that does not read, and a slow peer is not mistaken for one that does not
/// read.
final class SocketWriter {

  private static final int PIECE = 64 * 1024;
  private static final int SHARED = 32 * 1024;

  private final CoreSession session;
  private final Duration stall;
  private final Time time;

  /// Fair, so that callers keep their order. Not a lock, because it is held during I/O.
  private final Semaphore permit = new Semaphore(1, true);

  SocketWriter(CoreSession session, Duration stall, Time time) {
    this.session = session;
    this.stall = stall;
    this.time = time;
  }

  void write(List<EncodedFrames> parcels) throws IOException, InterruptedException {
    permit.acquire();
    try {
      for (var from = 0; from < parcels.size(); ) {
        var to = groupEnd(parcels, from);
        write(EncodedFrames.joined(parcels.subList(from, to)));
        from = to;
      }
    } finally {
      permit.release();
    }
  }

  /// Small ones share a write. Larger ones are sent without copying, as all connections share their
  /// bytes.
  private static int groupEnd(List<EncodedFrames> parcels, int from) {
    var to = from + 1;
    var size = parcels.get(from).size();
    while (to < parcels.size() && size + parcels.get(to).size() <= SHARED) {
      size += parcels.get(to).size();
      to++;
    }
    return to;
  }

  private void write(EncodedFrames encodedFrames) throws IOException, InterruptedException {
    for (var from = 0; from < encodedFrames.size(); ) {
      var to = encodedFrames.end(from);
      if (to - from > PIECE) {
        writePieces(encodedFrames, encodedFrames.payload(from), to);
      } else {
        while (to < encodedFrames.size() && encodedFrames.end(to) - from <= PIECE) {
          to = encodedFrames.end(to);
        }
        send(new BatchedFrame(encodedFrames, from, to));
      }
      from = to;
    }
  }

  private void writePieces(EncodedFrames encodedFrames, int begin, int end)
      throws IOException, InterruptedException {
    for (var from = begin; from < end; ) {
      var to = Math.min(end, from + PIECE);
      var opCode = from == begin ? OpCode.TEXT : OpCode.CONTINUATION;
      var frame = new Frame(opCode, encodedFrames.slice(from, to));
      frame.setFin(to == end);
      send(frame);
      from = to;
    }
  }

  private void send(Frame frame) throws IOException, InterruptedException {
    var writeCallback = new WriteCallback();
    session.sendFrame(frame, writeCallback, false);
    writeCallback.await();
  }

  private final class WriteCallback implements Callback {
    private final CallbackWait wait = new CallbackWait();
    private volatile @Nullable Throwable failure;

    void await() throws IOException, InterruptedException {
      if (!wait.await(time, stall)) {
        session.abort();
        throw new IOException("the peer has read nothing for " + stall.toSeconds() + " s");
      }
      if (failure != null) {
        throw new IOException("the peer has disconnected", failure);
      }
    }

    @Override
    public void succeeded() {
      wait.done();
    }

    @Override
    public void failed(Throwable cause) {
      failure = cause;
      wait.done();
    }

    @Override
    public InvocationType getInvocationType() {
      return InvocationType.NON_BLOCKING;
    }
  }

  /// Several frames that are sent with one write.
  ///
  /// Jetty writes the header of the first frame, and then the payload unchanged: so the payload
  /// contains the other frames, with their headers. Passing frames to Jetty one by one costs more
  /// than all other work for them.
  private static final class BatchedFrame extends Frame {

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
}
