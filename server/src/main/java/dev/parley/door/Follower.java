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

/// A reader of one context among several on one connection: as a [Tail] a position and a wait, no queue.
///
/// Followers of one connection share a turn. Who has something to say waits for it, reads, says it and
/// passes it on: so all get their share, and however many there are, one of them holds events.
public final class Follower implements AutoCloseable {

  /// The largest window.
  public static final int WINDOW_MAX = 10_000;

  /// An event where it stands, as the JSON that streams have.
  public record Told(Position position, String json) {}

  /// Who is told. Only this reader's thread calls.
  public interface Listener {

    /// The reader stands here, before anything else.
    void opened(Position position) throws IOException, InterruptedException;

    /// The reader does not get what it asked for, which is empty if it asked for nothing.
    void gap(Position position, String reason, String requested)
        throws IOException, InterruptedException;

    /// This has happened.
    void events(List<Told> events) throws IOException, InterruptedException;

    /// Nothing that is wanted has happened for a while.
    void heartbeat(Position position) throws IOException, InterruptedException;
  }

  /// What a reader asked for. `window` is how many events it may be told before it says that it has them; 0 is no end.
  public record Wish(ContextId context, Position after, EventFilter filter, int window) {}

  private final Tail.Parts parts;
  private final EventLog log;
  private final Wish wish;
  private final Semaphore turn;
  private final Streams.Open place;
  private final Metrics.Counter sent;
  private final Pulse pulse;

  /// Positions of events that the reader has not said it has. Its monitor guards it and signals that there are fewer.
  private final Deque<Position> unacknowledged = new ArrayDeque<>();

  private volatile Batch.Place at;

  /// Takes a reader in.
  ///
  /// @param turn has one permit, is fair, and is the same for all on one connection
  /// @throws Rejection.Busy if there are too many
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

  /// Tells everything, on the calling thread, until the context is deleted or this is ended.
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

  /// Ends it: [#run] returns soon.
  public void end() {
    place.end();
  }

  /// Where it stands. Right only when [#run] has returned.
  public Position position() {
    return at.position();
  }

  /// The reader has everything up to here that it was told.
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
      // Said also if the end has come meanwhile: where this stands, the reader has everything.
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

  /// What is to be told, and where the reader stands once it was.
  private record Gathered(List<Told> events, Batch.Place to) {}

  /// Some of what follows, up to `head`, about a page of it and no more than there is room for.
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

  /// Waits until the reader may be told more. False if `patience` ran out first.
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
