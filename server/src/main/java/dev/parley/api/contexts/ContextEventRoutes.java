package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.stream.ContextStream;
import dev.parley.stream.CorrectedEvents;
import dev.parley.stream.EventFilter;
import dev.parley.stream.EventFormat;
import dev.parley.stream.NativeFormat;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Routes for events, as pages and as streams.
final class ContextEventRoutes {

  /// How many entries one request reads, before filtering.
  private static final int SCAN_MAX = 10_000;

  private static final int READ = 64;
  private static final int BYTES_MAX = 4 << 20;

  private static final String CORRECTED = "corrected";

  private static final Parameter AFTER =
      Parameter.query("after", "only events after this position, such as 17");

  /// A page of events. `position` is the next `after`, even if no event passed the filter.
  record EventsPage(List<JsonNode> events, Position position, boolean hasMore) {}

  private final ApiDependencies parts;
  private final EventFormatParameters formats;

  ContextEventRoutes(ApiDependencies parts, Map<String, EventFormat> formats) {
    this.parts = parts;
    this.formats = new EventFormatParameters(parts, formats);
  }

  List<Route> routes() {
    var paged = new ArrayList<>(List.of(AFTER, Parameter.LIMIT));
    paged.addAll(EventFilter.PARAMETERS);
    paged.addAll(formats.parameters());
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
    streamed.addAll(formats.parameters());
    streamed.addAll(formats.streamParameters());
    return List.of(
        Route.get(
            "/api/contexts/{c}/events",
            "Lists events, oldest first",
            ResponseDescription.one(EventsPage.class),
            paged,
            this::list),
        Route.get(
            "/api/contexts/{c}/stream",
            "Streams past and then new events",
            ResponseDescription.stream(),
            streamed,
            this::stream));
  }

  /// Streams the task that a message started, until the task ends.
  Reply follow(AcceptedMessage acceptedMessage) {
    var greeting = (ObjectNode) Json.mapper().valueToTree(acceptedMessage);
    var after = Position.of(acceptedMessage.seq());
    var filter = EventFilter.tree(acceptedMessage.taskId());
    return new Reply.Stream(
        new ContextStream(
            parts.streamDependencies(),
            new ContextStream.StreamRequest(
                acceptedMessage.contextId(),
                after,
                filter,
                NativeFormat.INSTANCE,
                false,
                acceptedMessage.taskId(),
                greeting)));
  }

  static Rejection cursorAhead(Position asked, Position head) {
    return new Rejection.Invalid(
        "cursor-ahead", asked + " is ahead of the last event, which is at " + head);
  }

  private Reply stream(Request request) {
    var context = parts.access().context(request);
    var eventFormat = formats.format(request);
    var start = formats.startPosition(request, context);
    var after =
        request
            .header("Last-Event-ID")
            .or(() -> request.query("after"))
            .map(Position::parse)
            .orElse(start);
    var filter = formats.filter(request, context, eventFormat);
    var greeting = eventFormat.openingFields(context, filter.tasks().namedTask());
    return new Reply.Stream(
        new ContextStream(
            parts.streamDependencies(),
            new ContextStream.StreamRequest(
                context, after, filter, eventFormat, request.flag("merge"), null, greeting)));
  }

  private Reply list(Request request) {
    var context = parts.access().context(request);
    var after = request.query("after").map(Position::parse).orElse(Position.START);
    var head = parts.log().head(context);
    if (after.after(head)) {
      throw cursorAhead(after, head);
    }
    var eventFormat = formats.format(request);
    var filter = formats.filter(request, context, eventFormat);
    var corrected =
        new CorrectedEvents(
            request.flag(CORRECTED) ? parts.views().correctedMessages(context) : List.of());
    return list(new Range(context, after, head, request.limit()), filter, eventFormat, corrected);
  }

  /// At most `limit` events after `after`, up to `head`.
  private record Range(ContextId context, Position after, Position head, int limit) {}

  private Reply list(
      Range range, EventFilter filter, EventFormat eventFormat, CorrectedEvents corrected) {
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
          json.writeBytes(corrected.json(entry, eventFormat.json(entry)));
        }
      }
    }
    json.writeBytes("],\"position\":".getBytes(StandardCharsets.US_ASCII));
    json.writeBytes(Json.bytes(position));
    var more = eventFormat.equals(NativeFormat.INSTANCE) ? "hasMore" : "has_more";
    var rest = ",\"" + more + "\":" + head.after(position) + "}";
    json.writeBytes(rest.getBytes(StandardCharsets.US_ASCII));
    return new Reply.Bytes("application/json", json.toByteArray());
  }
}
