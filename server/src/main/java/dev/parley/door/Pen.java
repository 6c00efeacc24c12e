package dev.parley.door;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

/// Writes to a WebSocket: one at a time, in the order in which they came.
///
/// A message goes out in pieces, and the next only when the one before is with the operating system: so
/// a peer that does not read has no more than one piece waiting here, and one that reads slowly is not
/// mistaken for one that does not read.
final class Pen {

  private static final int PIECE = 64 * 1024;

  private final CoreSession session;
  private final Duration stall;

  /// Fair, so that nobody is overtaken. Not a lock, for it is held while writing.
  private final Semaphore pen = new Semaphore(1, true);

  Pen(CoreSession session, Duration stall) {
    this.session = session;
    this.stall = stall;
  }

  void write(List<String> texts) throws IOException, InterruptedException {
    pen.acquire();
    try {
      var size = 0;
      for (var i = 0; i < texts.size(); i++) {
        var bytes = texts.get(i).getBytes(StandardCharsets.UTF_8);
        size += bytes.length;
        // Small messages share a write; the last of them is waited for.
        if (bytes.length <= PIECE && size < PIECE && i < texts.size() - 1) {
          session.sendFrame(new Frame(OpCode.TEXT, ByteBuffer.wrap(bytes)), Callback.NOOP, true);
        } else {
          pieces(bytes);
          size = 0;
        }
      }
    } finally {
      pen.release();
    }
  }

  private void pieces(byte[] bytes) throws IOException, InterruptedException {
    var from = 0;
    do {
      var to = Math.min(bytes.length, from + PIECE);
      var payload = ByteBuffer.wrap(bytes, from, to - from).slice();
      var frame = new Frame(from == 0 ? OpCode.TEXT : OpCode.CONTINUATION, payload);
      frame.setFin(to == bytes.length);
      var written = new Written();
      session.sendFrame(frame, written, false);
      written.await();
      from = to;
    } while (from < bytes.length);
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
        throw new IOException("the peer has left", failure);
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
