package dev.parley.http;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
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

  /// Fair, so that callers keep their order. Not a lock, because it is held during I/O.
  private final Semaphore permit = new Semaphore(1, true);

  SocketWriter(CoreSession session, Duration stall) {
    this.session = session;
    this.stall = stall;
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
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile @Nullable Throwable failure;

    void await() throws IOException, InterruptedException {
      if (!done.await(stall.toMillis(), TimeUnit.MILLISECONDS)) {
        session.abort();
        throw new IOException("the peer has read nothing for " + stall.toSeconds() + " s");
      }
      if (failure != null) {
        throw new IOException("the peer has disconnected", failure);
      }
    }

    @Override
    public void succeeded() {
      done.countDown();
    }

    @Override
    public void failed(Throwable cause) {
      failure = cause;
      done.countDown();
    }

    @Override
    public InvocationType getInvocationType() {
      return InvocationType.NON_BLOCKING;
    }
  }
}
