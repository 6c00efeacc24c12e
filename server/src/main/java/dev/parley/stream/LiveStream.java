package dev.parley.stream;

import dev.parley.http.FrameStream;
import dev.parley.http.OpenStreams;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// A stream of server-sent events that is up to date and waits for the next event without a thread.
///
/// A delivery thread sends new events if their frames are in memory and the network accepts them at
/// once. For everything else (a slow reader, events in the store, a heartbeat, a probe of the
/// connection, the end of the stream), a virtual thread runs the subscription until it is idle
/// again.
///
/// `phase` decides which thread may use the subscription: only the one that has set it to `RUNNING`,
/// or to which that one has handed over. A signal during `RUNNING` sets it to `SIGNALED`, and the
/// thread looks again before it leaves, so that no signal is lost.
final class LiveStream {

  private static final System.Logger LOG = System.getLogger(LiveStream.class.getName());

  private enum Phase {
    /// Nothing to do.
    IDLE,
    /// A thread uses the subscription or will soon, or a write is pending whose end continues the
    /// stream.
    RUNNING,
    /// The same, and there was a signal meanwhile.
    SIGNALED,
    ENDED
  }

  private final LiveStreams streams;
  private final Subscription<?, SseSink.Frames> subscription;
  private final SseSink<?> sink;
  private final OpenStreams.StreamSlot slot;
  private final DeliveryThread deliverer;
  private final StreamGroup group;
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.RUNNING);
  private FrameStream.@Nullable DetachedSink connection;

  /// A stream of an idle subscription; it has no connection yet.
  LiveStream(
      LiveStreams streams,
      Subscription<?, SseSink.Frames> subscription,
      SseSink<?> sink,
      OpenStreams.StreamSlot slot) {
    this.streams = streams;
    this.subscription = subscription;
    this.sink = sink;
    this.slot = slot;
    this.deliverer = streams.nextDeliverer();
    this.group = deliverer.add(subscription.source(), this);
  }

  /// Detaches the connection from the calling thread, which is that of the request, and sends the
  /// events that have arrived meanwhile. False if the source or the connection needs a thread.
  boolean start(FrameStream.FrameSink frameSink) {
    var started = false;
    try {
      if (group.register()) {
        var detached = frameSink.detach();
        started = detached.isPresent();
        detached.ifPresent(this::start);
      }
    } catch (Rejection rejected) {
      // The thread of the request gets the same rejection and handles it.
    } finally {
      if (!started) {
        phase.set(Phase.ENDED);
        deliverer.remove(group, this);
      }
    }
    return started;
  }

  private void start(FrameStream.DetachedSink detached) {
    connection = detached;
    sink.detached(detached);
    slot.onSignal(this::resume);
    streams.checkHeartbeatAt(heartbeatAt());
    run();
  }

  /// Lets a virtual thread do what is due, for example send a heartbeat. Does not block.
  void resume() {
    if (enter()) {
      runOnThread();
    }
  }

  long heartbeatAt() {
    return subscription.heartbeatAt();
  }

  /// Sends new events. For the delivery thread.
  void deliver(DeliveryThread.Buffers buffers) {
    if (!enter()) {
      return;
    }
    try {
      do {
        if (!deliverAll(buffers)) {
          return;
        }
      } while (!leave());
    } catch (Rejection rejected) {
      // The virtual thread gets the same rejection and handles it.
      runOnThread();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      abort();
    } catch (RuntimeException | Error bug) { // The root of a thread: this ends only this stream.
      LOG.log(Level.ERROR, "a stream failed", bug);
      abort();
    }
  }

  /// Sends everything that is in memory. False if another thread continues, or the stream has ended.
  private boolean deliverAll(DeliveryThread.Buffers buffers) throws InterruptedException {
    while (true) {
      var before = subscription.cursor();
      var batch = subscription.nextInMemory(buffers.memo);
      if (batch == null) {
        runOnThread();
        return false;
      }
      var content = batch.content();
      if (content == null && batch.reached().equals(before)) {
        return true;
      }
      if (content != null && !send(content, buffers)) {
        return false;
      }
    }
  }

  private boolean send(SseSink.Frames content, DeliveryThread.Buffers buffers) {
    var chunk = buffers.chunk(content.bytes());
    return switch (connection().writeNow(chunk, succeeded -> written(content, succeeded))) {
      case DONE -> {
        sink.recordSent(content);
        yield true;
      }
      case LATER -> false;
      case FAILED -> {
        abort();
        yield false;
      }
    };
  }

  private void written(SseSink.Frames content, boolean succeeded) {
    if (succeeded) {
      sink.recordSent(content);
      runOnThread();
    } else {
      abort();
    }
  }

  private void runOnThread() {
    try {
      streams.startThread(this::run);
    } catch (RuntimeException | Error failure) { // In place of the root of a thread.
      LOG.log(Level.ERROR, "a stream ends because its thread does not start", failure);
      abort();
    }
  }

  private void run() {
    try {
      do {
        if (!subscription.runUntilIdle()) {
          // First, so that a reader at the limit can open a stream after the end of this one.
          end();
          connection().finish();
          return;
        }
      } while (!leave());
    } catch (IOException | Rejection gone) {
      // The reader has disconnected, or the store is not available: the reader reconnects.
      abort();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      abort();
    } catch (RuntimeException | Error bug) { // The root of a thread.
      LOG.log(Level.ERROR, "a stream failed", bug);
      abort();
    }
  }

  /// True if the calling thread may use the subscription now. False if another thread does: it will
  /// look again.
  private boolean enter() {
    while (true) {
      switch (phase.get()) {
        case IDLE -> {
          if (phase.compareAndSet(Phase.IDLE, Phase.RUNNING)) {
            return true;
          }
        }
        case RUNNING -> {
          if (phase.compareAndSet(Phase.RUNNING, Phase.SIGNALED)) {
            return false;
          }
        }
        case SIGNALED, ENDED -> {
          return false;
        }
      }
    }
  }

  /// False if there was a signal, so that the thread must look again.
  private boolean leave() {
    if (phase.compareAndSet(Phase.RUNNING, Phase.IDLE)) {
      return true;
    }
    phase.set(Phase.RUNNING);
    return false;
  }

  /// Closes the connection and ends the stream. Never fails: the caller has other streams.
  private void abort() {
    try {
      connection().abort();
    } catch (RuntimeException | Error bug) { // The root of a thread may be the caller.
      LOG.log(Level.ERROR, "a connection was not closed", bug);
    } finally {
      end();
    }
  }

  private void end() {
    if (phase.getAndSet(Phase.ENDED) == Phase.ENDED) {
      return;
    }
    try {
      deliverer.remove(group, this);
    } finally {
      slot.close();
    }
  }

  private FrameStream.DetachedSink connection() {
    if (connection == null) {
      throw new IllegalStateException("the stream has not started");
    }
    return connection;
  }
}
