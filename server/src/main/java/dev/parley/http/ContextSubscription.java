package dev.parley.http;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Semaphore;

/// A subscription to one context, among several on one connection. Like a [ContextStream] it is a position
/// and a wait, without a queue.
///
/// The subscriptions of one connection share a permit. A subscription with new events acquires it,
/// reads, sends and releases it. So all subscriptions progress, and only one of them at a time
/// holds events in memory.
public final class ContextSubscription implements AutoCloseable {

  /// The largest window.
  public static final int WINDOW_MAX = 10_000;

  /// An event's position and its JSON, which is the same as in streams.
  public record EncodedEvent(Position position, String json) {}

  /// Receives events. Only the subscription's thread calls it.
  public interface SubscriptionListener {

    /// The subscription starts at this position. This is the first call.
    void opened(Position position) throws IOException, InterruptedException;

    /// Events are missing. `requested` is the position that the reader asked for, or empty.
    void gap(Position position, String reason, String requested)
        throws IOException, InterruptedException;

    /// These events follow.
    void events(List<EncodedEvent> events) throws IOException, InterruptedException;

    /// No event has passed the filter for the heartbeat interval.
    void heartbeat(Position position) throws IOException, InterruptedException;
  }

  /// The request of a reader. `window` is how many unacknowledged events it may have; 0 means no
  /// limit.
  public record SubscriptionRequest(
      ContextId context, Position after, EventFilter filter, int window) {}

  private final ContextStream.StreamDependencies streamDependencies;
  private final EventLog log;
  private final SubscriptionRequest subscriptionRequest;
  private final Semaphore turn;
  private final OpenStreams.StreamSlot slot;
  private final Metrics.Counter sent;
  private final HeartbeatTimer heartbeatTimer;

  /// Positions of unacknowledged events. Its monitor guards it and signals removals.
  private final Deque<Position> unacknowledged = new ArrayDeque<>();

  private volatile FrameBatch.ReadPosition at;

  /// Opens the subscription.
  ///
  /// @param turn has one permit, is fair, and is the same for all on one connection
  /// @throws Rejection.Busy if there are too many streams
  public ContextSubscription(
      ContextStream.StreamDependencies streamDependencies,
      SubscriptionRequest subscriptionRequest,
      Semaphore turn) {
    this.streamDependencies = streamDependencies;
    this.log = streamDependencies.log();
    this.subscriptionRequest = subscriptionRequest;
    this.heartbeatTimer = new HeartbeatTimer(streamDependencies);
    this.turn = turn;
    this.at = FrameBatch.ReadPosition.at(subscriptionRequest.after());
    this.sent = streamDependencies.metrics().counter(Metric.SOCKET_EVENTS);
    this.slot = streamDependencies.streams().open();
    slot.describe(OpenStreams.StreamKind.SUBSCRIPTION, this::lag);
  }

  /// Sends events, on the calling thread, until the context is deleted or [#end] is called.
  ///
  /// @return true if the context was deleted
  public boolean run(SubscriptionListener subscriptionListener)
      throws IOException, InterruptedException {
    try {
      begin(subscriptionListener);
      while (!slot.ended()) {
        advance(subscriptionListener);
      }
      return false;
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      streamDependencies.countGap("deleted");
      subscriptionListener.gap(at.position(), "deleted", "");
      return true;
    }
  }

  /// Makes [#run] return soon.
  public void end() {
    slot.end();
  }

  /// The position of the last event that was sent. Exact only when [#run] has returned.
  public Position position() {
    return at.position();
  }

  /// The reader has received all events up to this position.
  public void acknowledge(Position position) {
    synchronized (unacknowledged) {
      if (subscriptionRequest.window() == 0) {
        return;
      }
      while (!unacknowledged.isEmpty() && !unacknowledged.getFirst().after(position)) {
        unacknowledged.removeFirst();
      }
      unacknowledged.notifyAll();
    }
  }

  private void begin(SubscriptionListener subscriptionListener)
      throws IOException, InterruptedException {
    var head = log.head(subscriptionRequest.context());
    var ahead = subscriptionRequest.after().after(head);
    at = ahead ? FrameBatch.ReadPosition.at(head) : at;
    subscriptionListener.opened(at.position());
    if (ahead) {
      streamDependencies.countGap("ahead-of-head");
      subscriptionListener.gap(
          at.position(), "ahead-of-head", subscriptionRequest.after().toString());
    }
    streamDependencies.countReplay(at.position(), head);
    heartbeatTimer.reset();
  }

  private long lag() {
    return log.head(subscriptionRequest.context()).seq() - at.position().seq();
  }

  private void advance(SubscriptionListener subscriptionListener)
      throws IOException, InterruptedException {
    if (!slot.await(
        () ->
            awaitRoom(heartbeatTimer.timeToNext())
                && log.await(
                    subscriptionRequest.context(), at.position(), heartbeatTimer.timeToNext()))) {
      if (!slot.ended() && heartbeatTimer.due()) {
        heartbeat(subscriptionListener);
      }
      return;
    }
    turn.acquire();
    try {
      if (slot.ended()) {
        return;
      }
      var readResult = gather(log.head(subscriptionRequest.context()));
      // Sent even if the subscription was ended meanwhile: the reader must have every event up to
      // the final position.
      if (!readResult.events().isEmpty()) {
        subscriptionListener.events(readResult.events());
        sent.add(readResult.events().size());
        heartbeatTimer.reset();
      }
      at = readResult.to();
    } finally {
      turn.release();
    }
    if (heartbeatTimer.due()) {
      heartbeat(subscriptionListener);
    }
  }

  /// Events to send, and the position after them.
  private record ReadResult(List<EncodedEvent> events, FrameBatch.ReadPosition to) {}

  /// The next events, up to `head`, about one page, and no more than the window allows.
  private ReadResult gather(Position head) throws InterruptedException {
    var events = new ArrayList<EncodedEvent>();
    var room = room();
    var to = at;
    for (var size = 0; head.after(to.position()) && size < FramePage.BYTES && room > 0; ) {
      var page =
          streamDependencies
              .cache()
              .page(subscriptionRequest.context(), to.position(), EventFormat.NATIVE, to.readMax());
      var frameBytes = page.bytes().length / page.entries().size();
      for (var i = 0; i < page.entries().size() && room > 0; i++) {
        var entry = page.entries().get(i);
        to = new FrameBatch.ReadPosition(entry.position(), frameBytes);
        if (subscriptionRequest.filter().accepts(entry)) {
          var json = page.json(i);
          events.add(new EncodedEvent(entry.position(), json));
          size += json.length();
          room--;
        }
      }
    }
    if (subscriptionRequest.window() > 0) {
      synchronized (unacknowledged) {
        events.forEach(event -> unacknowledged.add(event.position()));
      }
    }
    return new ReadResult(events, to);
  }

  private int room() {
    synchronized (unacknowledged) {
      return subscriptionRequest.window() == 0
          ? Integer.MAX_VALUE
          : subscriptionRequest.window() - unacknowledged.size();
    }
  }

  /// Waits until the window has room. False if `patience` ran out first.
  private boolean awaitRoom(Duration patience) throws InterruptedException {
    synchronized (unacknowledged) {
      if (room() == 0 && patience.isPositive()) {
        unacknowledged.wait(patience.toMillis());
      }
      return room() > 0;
    }
  }

  private void heartbeat(SubscriptionListener subscriptionListener)
      throws IOException, InterruptedException {
    subscriptionListener.heartbeat(at.position());
    heartbeatTimer.reset();
  }

  @Override
  public void close() {
    slot.close();
  }
}
