package dev.parley.door;

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

/// A subscription to one context, among several on one connection. Like a [Tail] it is a position
/// and a wait, without a queue.
///
/// The subscriptions of one connection share a permit. A subscription with new events acquires it,
/// reads, sends and releases it. So all subscriptions progress, and only one of them at a time
/// holds events in memory.
public final class Follower implements AutoCloseable {

  /// The largest window.
  public static final int WINDOW_MAX = 10_000;

  /// An event's position and its JSON, which is the same as in streams.
  public record Told(Position position, String json) {}

  /// Receives events. Only the subscription's thread calls it.
  public interface Listener {

    /// The subscription starts at this position. This is the first call.
    void opened(Position position) throws IOException, InterruptedException;

    /// Events are missing. `requested` is the position that the reader asked for, or empty.
    void gap(Position position, String reason, String requested)
        throws IOException, InterruptedException;

    /// These events follow.
    void events(List<Told> events) throws IOException, InterruptedException;

    /// No event has passed the filter for the heartbeat interval.
    void heartbeat(Position position) throws IOException, InterruptedException;
  }

  /// The request of a reader. `window` is how many unacknowledged events it may have; 0 means no
  /// limit.
  public record Wish(ContextId context, Position after, EventFilter filter, int window) {}

  private final Tail.Parts parts;
  private final EventLog log;
  private final Wish wish;
  private final Semaphore turn;
  private final Streams.Open place;
  private final Metrics.Counter sent;
  private final Pulse pulse;

  /// Positions of unacknowledged events. Its monitor guards it and signals removals.
  private final Deque<Position> unacknowledged = new ArrayDeque<>();

  private volatile Batch.Place at;

  /// Opens the subscription.
  ///
  /// @param turn has one permit, is fair, and is the same for all on one connection
  /// @throws Rejection.Busy if there are too many streams
  public Follower(Tail.Parts parts, Wish wish, Semaphore turn) {
    this.parts = parts;
    this.log = parts.log();
    this.wish = wish;
    this.pulse = new Pulse(parts);
    this.turn = turn;
    this.at = Batch.Place.at(wish.after());
    this.sent = parts.metrics().counter(Metric.SOCKET_EVENTS);
    this.place = parts.streams().open();
    place.reads(Streams.Kind.SUBSCRIPTION, this::lag);
  }

  /// Sends events, on the calling thread, until the context is deleted or [#end] is called.
  ///
  /// @return true if the context was deleted
  public boolean run(Listener listener) throws IOException, InterruptedException {
    try {
      begin(listener);
      while (!place.ended()) {
        advance(listener);
      }
      return false;
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      parts.gap("deleted");
      listener.gap(at.position(), "deleted", "");
      return true;
    }
  }

  /// Makes [#run] return soon.
  public void end() {
    place.end();
  }

  /// The position of the last event that was sent. Exact only when [#run] has returned.
  public Position position() {
    return at.position();
  }

  /// The reader has received all events up to this position.
  public void acknowledge(Position position) {
    synchronized (unacknowledged) {
      if (wish.window() == 0) {
        return;
      }
      while (!unacknowledged.isEmpty() && !unacknowledged.getFirst().after(position)) {
        unacknowledged.removeFirst();
      }
      unacknowledged.notifyAll();
    }
  }

  private void begin(Listener listener) throws IOException, InterruptedException {
    var head = log.head(wish.context());
    var ahead = wish.after().after(head);
    at = ahead ? Batch.Place.at(head) : at;
    listener.opened(at.position());
    if (ahead) {
      parts.gap("ahead-of-head");
      listener.gap(at.position(), "ahead-of-head", wish.after().toString());
    }
    parts.began(at.position(), head);
    pulse.said();
  }

  private long lag() {
    return log.head(wish.context()).seq() - at.position().seq();
  }

  private void advance(Listener listener) throws IOException, InterruptedException {
    if (!place.await(
        () ->
            awaitRoom(pulse.patience())
                && log.await(wish.context(), at.position(), pulse.patience()))) {
      if (!place.ended() && pulse.due()) {
        heartbeat(listener);
      }
      return;
    }
    turn.acquire();
    try {
      if (place.ended()) {
        return;
      }
      var gathered = gather(log.head(wish.context()));
      // Sent even if the subscription was ended meanwhile: the reader must have every event up to
      // the final position.
      if (!gathered.events().isEmpty()) {
        listener.events(gathered.events());
        sent.add(gathered.events().size());
        pulse.said();
      }
      at = gathered.to();
    } finally {
      turn.release();
    }
    if (pulse.due()) {
      heartbeat(listener);
    }
  }

  /// Events to send, and the position after them.
  private record Gathered(List<Told> events, Batch.Place to) {}

  /// The next events, up to `head`, about one page, and no more than the window allows.
  private Gathered gather(Position head) throws InterruptedException {
    var events = new ArrayList<Told>();
    var room = room();
    var to = at;
    for (var size = 0; head.after(to.position()) && size < FramePage.BYTES && room > 0; ) {
      var page = parts.cache().page(wish.context(), to.position(), Format.NATIVE, to.readMax());
      var frameBytes = page.bytes().length / page.entries().size();
      for (var i = 0; i < page.entries().size() && room > 0; i++) {
        var entry = page.entries().get(i);
        to = new Batch.Place(entry.position(), frameBytes);
        if (wish.filter().accepts(entry)) {
          var json = page.json(i);
          events.add(new Told(entry.position(), json));
          size += json.length();
          room--;
        }
      }
    }
    if (wish.window() > 0) {
      synchronized (unacknowledged) {
        events.forEach(event -> unacknowledged.add(event.position()));
      }
    }
    return new Gathered(events, to);
  }

  private int room() {
    synchronized (unacknowledged) {
      return wish.window() == 0 ? Integer.MAX_VALUE : wish.window() - unacknowledged.size();
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

  private void heartbeat(Listener listener) throws IOException, InterruptedException {
    listener.heartbeat(at.position());
    pulse.said();
  }

  @Override
  public void close() {
    place.close();
  }
}
