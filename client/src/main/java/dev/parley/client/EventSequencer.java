package dev.parley.client;

import dev.parley.client.EventStream.StreamSubscription;
import dev.parley.client.HttpRequests.HttpCall;
import dev.parley.client.HttpRequests.RequestPath;
import dev.parley.client.SseParser.SseFrame;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ObjectNode;

/// Delivers the events of a stream in order: drops duplicates, and fetches missing events.
///
/// Holds at most one page and one event. For one thread.
final class EventSequencer {

  private static final int PAGE = 500;
  private static final Duration HEARTBEAT_MAX = Duration.ofHours(1);

  private final HttpRequests httpRequests;
  private final StreamSubscription streamSubscription;
  private final boolean contiguous;
  private final Queue<Entry> ready = new ArrayDeque<>();
  private Consumer<ObjectNode> onUnknown = _ -> {};

  private Position received;
  private Position delivered;
  private @Nullable ObjectNode heldEvent;
  private long repairThrough;
  private long unknown;
  private long duplicates;

  EventSequencer(HttpRequests httpRequests, StreamSubscription streamSubscription) {
    this.httpRequests = httpRequests;
    this.streamSubscription = streamSubscription;
    this.contiguous = streamSubscription.filter().selectsAllPublic();
    this.received = streamSubscription.after();
    this.delivered = streamSubscription.after();
  }

  /// The next event that can be delivered now.
  Optional<Entry> poll() {
    while (ready.isEmpty() && repairThrough > received.seq()) {
      repair();
    }
    if (ready.isEmpty() && heldEvent != null) {
      var fields = heldEvent;
      heldEvent = null;
      accept(fields);
    }
    var entry = Optional.ofNullable(ready.poll());
    entry.ifPresent(e -> delivered = e.position());
    return entry;
  }

  /// Adds a frame of the stream. True if it moved the reader forward.
  ///
  /// @throws BadAnswer if the frame is invalid
  boolean addFrame(SseFrame frame) {
    var before = received;
    if (frame.data().isEmpty()) {
      if (frame.id() != null) {
        heartbeat(position(frame.id()));
        return true;
      }
      return false;
    }
    var fields = object(frame.data());
    if (gapBefore(position(fields))) {
      heldEvent = fields;
      repairThrough = lastPublicBefore(position(fields));
      return true;
    }
    accept(fields);
    return received.after(before);
  }

  private void heartbeat(Position position) {
    if (contiguous && position.seq() > received.seq()) {
      repairThrough = position.seq();
    } else if (position.after(received)) {
      received = position;
    }
  }

  private void accept(ObjectNode fields) {
    var position = position(fields);
    if (!position.after(received)) {
      duplicates++;
      return;
    }
    var entry = EventPage.entry(fields);
    if (entry == null) {
      unknown++;
      onUnknown.accept(fields);
    } else {
      ready.add(entry);
    }
    received = position;
  }

  private boolean gapBefore(Position position) {
    return contiguous && lastPublicBefore(position) > received.seq();
  }

  private static long lastPublicBefore(Position position) {
    return position.k() > 0 ? position.seq() : position.seq() - 1;
  }

  /// Fetches the next page of missing events.
  private void repair() {
    var before = received;
    var requestPath = new RequestPath("/api/contexts/" + streamSubscription.context() + "/events");
    streamSubscription.filter().addTo(requestPath.with("after", received).with("limit", PAGE));
    var page = EventPage.of(httpRequests.json(HttpCall.get(requestPath.toString())));
    for (var fields : page.events()) {
      if (gapBefore(position(fields))) {
        break;
      }
      accept(fields);
    }
    if (!received.after(before)) {
      throw new StreamGap("missing", before.toString(), page.position().toString());
    }
  }

  /// Stops fetching missing events; a new connection sends them.
  void cancelRepair() {
    heldEvent = null;
    repairThrough = 0;
  }

  private static Position position(ObjectNode fields) {
    var seq = fields.path("seq");
    if (!seq.isIntegralNumber() || seq.asLong() < 1) {
      throw new BadAnswer("the server sent an event without a sequence number");
    }
    return new Position(seq.asLong(), Math.max(0, fields.path("k").asInt(0)));
  }

  private static Position position(String id) {
    try {
      return Position.parse(id);
    } catch (Rejection.Invalid notOne) {
      throw new BadAnswer("the server sent an id that is not a position", notOne);
    }
  }

  private static ObjectNode object(String data) {
    try {
      if (Json.mapper().readTree(data) instanceof ObjectNode fields) {
        return fields;
      }
    } catch (JacksonException notJson) {
      throw new BadAnswer("the server sent a frame that is not JSON", notJson);
    }
    throw new BadAnswer("the server sent a frame that is not a JSON object");
  }

  /// The heartbeat interval of a `stream-open` frame; zero if there are no heartbeats.
  static Duration heartbeat(SseFrame frame, Duration usual) {
    var millis = object(frame.data()).path("heartbeatMs").asLong(usual.toMillis());
    return Duration.ofMillis(Math.clamp(millis, 0, HEARTBEAT_MAX.toMillis()));
  }

  /// The exception for a `stream-gap` frame.
  static StreamGap gap(SseFrame frame) {
    var fields = object(frame.data());
    return new StreamGap(
        fields.path("reason").asString("unknown"),
        optional(fields, "requested"),
        optional(fields, "position"));
  }

  private static @Nullable String optional(ObjectNode fields, String name) {
    var text = fields.path(name).asString("");
    return text.isEmpty() ? null : text;
  }

  void onUnknown(Consumer<ObjectNode> hook) {
    onUnknown = hook;
  }

  /// The position to continue from after a lost connection.
  ///
  /// Events that are held back or being fetched do not count as received.
  Position received() {
    return received;
  }

  Position position() {
    return ready.isEmpty() ? received : delivered;
  }

  long unknown() {
    return unknown;
  }

  long duplicates() {
    return duplicates;
  }
}
