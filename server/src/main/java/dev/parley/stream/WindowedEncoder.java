package dev.parley.stream;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// Reads events of one context as JSON, from pages that are encoded once for all readers, and no
/// more than a reader's window of unacknowledged events allows.
public final class WindowedEncoder
    implements Subscription.Encoder<Position, List<WindowedEncoder.EncodedEvent>> {

  /// The largest window.
  public static final int WINDOW_MAX = 10_000;

  /// An event's position and its JSON, which is the same as in streams.
  public record EncodedEvent(Position position, String json) {}

  /// The request of a reader. `window` is how many unacknowledged events it may have; 0 means no
  /// limit.
  public record SubscriptionRequest(
      ContextId context, Position after, EventFilter filter, int window) {}

  private final StreamDependencies dependencies;
  private final SubscriptionRequest request;

  /// Positions of unacknowledged events. Its monitor guards it and signals removals.
  private final Deque<Position> unacknowledged = new ArrayDeque<>();

  private int readMax = FramePage.READ_FIRST;

  public WindowedEncoder(StreamDependencies dependencies, SubscriptionRequest request) {
    this.dependencies = dependencies;
    this.request = request;
  }

  /// The next events, up to the present end of the log, about one page.
  @Override
  public Subscription.Batch<Position, List<EncodedEvent>> next(Position from)
      throws InterruptedException {
    var head = dependencies.log().head(request.context());
    var events = new ArrayList<EncodedEvent>();
    var room = room();
    var position = from;
    for (var size = 0; head.after(position) && size < FramePage.BYTES && room > 0; ) {
      var page =
          dependencies.cache().page(request.context(), position, NativeFormat.INSTANCE, readMax);
      readMax = page.readMax();
      for (var i = 0; i < page.entries().size() && room > 0; i++) {
        var entry = page.entries().get(i);
        position = entry.position();
        if (request.filter().accepts(entry)) {
          var json = page.json(i);
          events.add(new EncodedEvent(position, json));
          size += json.length();
          room--;
        }
      }
    }
    if (request.window() > 0) {
      synchronized (unacknowledged) {
        events.forEach(event -> unacknowledged.add(event.position()));
      }
    }
    return new Subscription.Batch<>(events.isEmpty() ? null : events, position);
  }

  /// The reader has received all events up to this position. For many threads.
  public void acknowledge(Position position) {
    synchronized (unacknowledged) {
      while (!unacknowledged.isEmpty() && !unacknowledged.getFirst().after(position)) {
        unacknowledged.removeFirst();
      }
      unacknowledged.notifyAll();
    }
  }

  /// Waits until the window has room. False if `patience` ran out first.
  public boolean awaitRoom(Time time, Duration patience) throws InterruptedException {
    synchronized (unacknowledged) {
      if (room() == 0) {
        time.waitUntil(unacknowledged, time.deadline(patience));
      }
      return room() > 0;
    }
  }

  private int room() {
    synchronized (unacknowledged) {
      return request.window() == 0 ? Integer.MAX_VALUE : request.window() - unacknowledged.size();
    }
  }
}
