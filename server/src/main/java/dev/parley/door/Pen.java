package dev.parley.door;

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
final class Pen {

  private static final int PIECE = 64 * 1024;
  private static final int SHARED = 32 * 1024;

  private final CoreSession session;
  private final Duration stall;

  /// Fair, so that callers keep their order. Not a lock, because it is held during I/O.
  private final Semaphore pen = new Semaphore(1, true);

  Pen(CoreSession session, Duration stall) {
    this.session = session;
    this.stall = stall;
  }

  void write(List<Parcel> parcels) throws IOException, InterruptedException {
    pen.acquire();
    try {
      for (var from = 0; from < parcels.size(); ) {
        var to = together(parcels, from);
        write(Parcel.joined(parcels.subList(from, to)));
        from = to;
      }
    } finally {
      pen.release();
    }
  }

  /// Small ones share a write. Larger ones are sent without copying, as all connections share their
  /// bytes.
  private static int together(List<Parcel> parcels, int from) {
    var to = from + 1;
    var size = parcels.get(from).size();
    while (to < parcels.size() && size + parcels.get(to).size() <= SHARED) {
      size += parcels.get(to).size();
      to++;
    }
    return to;
  }

  private void write(Parcel parcel) throws IOException, InterruptedException {
    for (var from = 0; from < parcel.size(); ) {
      var to = parcel.end(from);
      if (to - from > PIECE) {
        pieces(parcel, parcel.payload(from), to);
      } else {
        while (to < parcel.size() && parcel.end(to) - from <= PIECE) {
          to = parcel.end(to);
        }
        send(new FrameRun(parcel, from, to));
      }
      from = to;
    }
  }

  private void pieces(Parcel parcel, int begin, int end) throws IOException, InterruptedException {
    for (var from = begin; from < end; ) {
      var to = Math.min(end, from + PIECE);
      var opCode = from == begin ? OpCode.TEXT : OpCode.CONTINUATION;
      var frame = new Frame(opCode, parcel.slice(from, to));
      frame.setFin(to == end);
      send(frame);
      from = to;
    }
  }

  private void send(Frame frame) throws IOException, InterruptedException {
    var written = new Written();
    session.sendFrame(frame, written, false);
    written.await();
  }

  private final class Written implements Callback {
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
