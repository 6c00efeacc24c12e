package dev.parley.door.contexts;

import dev.parley.door.Answer;
import dev.parley.door.CorrectedEvents;
import dev.parley.door.DoorParts;
import dev.parley.door.EventFilter;
import dev.parley.door.Format;
import dev.parley.door.Paging;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.door.Tail;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.task.Accepted;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Routes for events, as pages and as streams.
final class EventRoutes {

  /// How many entries one request reads, before filtering.
  private static final int SCAN_MAX = 10_000;

  private static final int READ = 64;
  private static final int BYTES_MAX = 4 << 20;

  private static final String CORRECTED = "corrected";

  private static final Parameter AFTER =
      Parameter.query("after", "only events after this position, such as 17");

  /// A page of events. `position` is the next `after`, even if no event passed the filter.
  record Events(List<JsonNode> events, Position position, boolean hasMore) {}

  private final DoorParts parts;
  private final Dialect dialect;

  EventRoutes(DoorParts parts) {
    this.parts = parts;
    this.dialect = new Dialect(parts);
  }

  List<Route> routes() {
    var paged = new ArrayList<>(List.of(AFTER, Paging.LIMIT));
    paged.addAll(EventFilter.PARAMETERS);
    paged.addAll(Dialect.PARAMETERS);
    paged.add(
        Parameter.query(
            CORRECTED, Parameter.Type.BOOLEAN, "omit text that was deleted or edited since"));
    var streamed =
        new ArrayList<>(
            List.of(
                AFTER,
                Parameter.header("Last-Event-ID", "the same as after; takes precedence"),
                Parameter.query(
                    "merge",
                    Parameter.Type.BOOLEAN,
                    "merge consecutive deltas into one with fromSeq")));
    streamed.addAll(EventFilter.PARAMETERS);
    streamed.addAll(Dialect.PARAMETERS);
    streamed.add(Dialect.REPLAY);
    return List.of(
        Route.get(
            "/api/contexts/{c}/events",
            "Lists events, oldest first",
            Answer.one(Events.class),
            paged,
            this::list),
        Route.get(
            "/api/contexts/{c}/stream",
            "Streams past and then new events",
            Answer.stream(),
            streamed,
            this::stream));
  }

  /// Streams the task that a message started, until the task ends.
  Reply follow(Accepted accepted) {
    var greeting = (ObjectNode) Json.mapper().valueToTree(accepted);
    var after = Position.of(accepted.seq());
    var filter = EventFilter.tree(accepted.taskId());
    return new Reply.Stream(
        new Tail(
            parts.tails(),
            new Tail.Wish(
                accepted.contextId(),
                after,
                filter,
                Format.NATIVE,
                false,
                accepted.taskId(),
                greeting)));
  }

  static Rejection ahead(Position asked, Position head) {
    return new Rejection.Invalid(
        "cursor-ahead", asked + " is ahead of the last event, which is at " + head);
  }

  private Reply stream(Request request) {
    var context = parts.access().context(request);
    var format = dialect.format(request);
    var start = dialect.start(request, context);
    var after =
        request
            .header("Last-Event-ID")
            .or(() -> request.query("after"))
            .map(Position::parse)
            .orElse(start);
    var filter = dialect.filter(request, context, format);
    var greeting = dialect.greeting(context, format, filter);
    return new Reply.Stream(
        new Tail(
            parts.tails(),
            new Tail.Wish(context, after, filter, format, request.flag("merge"), null, greeting)));
  }

  private Reply list(Request request) {
    var context = parts.access().context(request);
    var after = request.query("after").map(Position::parse).orElse(Position.START);
    var head = parts.log().head(context);
    if (after.after(head)) {
      throw ahead(after, head);
    }
    var format = dialect.format(request);
    var filter = dialect.filter(request, context, format);
    var corrected =
        new CorrectedEvents(request.flag(CORRECTED) ? parts.views().corrected(context) : List.of());
    return list(new Range(context, after, head, request.limit()), filter, format, corrected);
  }

  /// At most `limit` events after `after`, up to `head`.
  private record Range(ContextId context, Position after, Position head, int limit) {}

  private Reply list(Range range, EventFilter filter, Format format, CorrectedEvents corrected) {
    var head = range.head();
    var limit = range.limit();
    var json = new ByteArrayOutputStream();
    json.writeBytes("{\"events\":[".getBytes(StandardCharsets.US_ASCII));
    var position = range.after();
    var found = 0;
    var scanned = 0;
    while (head.after(position) && found < limit && scanned < SCAN_MAX && json.size() < BYTES_MAX) {
      for (var entry : parts.log().read(range.context(), position, READ)) {
        if (found == limit || json.size() >= BYTES_MAX || entry.position().after(head)) {
          break;
        }
        position = entry.position();
        scanned++;
        if (filter.accepts(entry) && !corrected.omits(entry)) {
          if (found++ > 0) {
            json.write(',');
          }
          json.writeBytes(corrected.json(entry, format.json(entry)));
        }
      }
    }
    json.writeBytes("],\"position\":".getBytes(StandardCharsets.US_ASCII));
    json.writeBytes(Json.bytes(position));
    var more = format.equals(Format.NATIVE) ? "hasMore" : "has_more";
    var rest = ",\"" + more + "\":" + head.after(position) + "}";
    json.writeBytes(rest.getBytes(StandardCharsets.US_ASCII));
    return new Reply.Bytes("application/json", json.toByteArray());
  }
}
