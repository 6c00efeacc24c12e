package dev.parley.door.a2a.sessions;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.log.Decision;
import dev.parley.log.Draft;
import dev.parley.log.Guard;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.InternalRaw;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Routes that show a session with its events, and that add events of external agents.
final class EventRoutes {

  private static final int EVENTS = 1000;
  private static final String SHOWN = "Successfully retrieved session";

  private final DoorParts parts;
  private final Callers callers;
  private final SubSessions children;
  private final SessionEvents events;

  EventRoutes(DoorParts parts, Callers callers, SubSessions children) {
    this.parts = parts;
    this.callers = callers;
    this.children = children;
    this.events = new SessionEvents(parts.log(), parts.views());
  }

  /// An event to add. `data` is its JSON, or a string with its JSON.
  record NewEvent(String id, JsonNode data) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            SessionRoutes.ONE,
            "Shows a session with its events and its state",
            Answer.other(SessionsDoor.JSON),
            List.of(
                Callers.USER,
                Callers.USER_HEADER,
                Parameter.query("order", "asc or desc; the newest come first if it is missing"),
                Parameter.query("after", "only events after this time"),
                Parameter.query("limit", Parameter.Type.INTEGER, "at most this many events")),
            this::show),
        SessionsDoor.send(
            Route.Method.POST,
            SessionRoutes.ONE + "/events",
            "Adds an event of an external agent",
            NewEvent.class,
            this::add));
  }

  private Reply show(Request request) {
    var child = children.find(request, callers);
    if (child.isPresent()) {
      var data = Json.object();
      data.set("session", Json.mapper().valueToTree(children.session(child.get())));
      data.putArray("events");
      return Envelope.of(200, data, SHOWN);
    }
    var shown = callers.readable(request);
    var context = shown.context();
    var limit = request.number("limit", -1).filter(n -> n > 0).orElse((long) EVENTS);
    var oldestFirst = oldestFirst(request.query("order").orElse("desc"));
    var wish =
        new SessionEvents.Wish(
            request.query("after").map(EventRoutes::time).orElse(Instant.MIN),
            (int) Math.min(limit, EVENTS),
            oldestFirst);
    var session = Session.of(parts.views().listing().find(context));
    var data = Json.object();
    data.set("session", Json.mapper().valueToTree(session));
    var list = data.putArray("events");
    events.read(context.contextId(), session.user_id(), wish).forEach(list::add);
    data.set("state", parts.views().state(context.contextId()));
    if (shown.readOnly()) {
      data.put("read_only", true);
    }
    return Envelope.of(200, data, SHOWN);
  }

  private static boolean oldestFirst(String order) {
    return switch (order) {
      case "asc", "ASC" -> true;
      case "desc", "DESC" -> false;
      default -> throw new Rejection.Invalid("order must be asc or desc");
    };
  }

  private static Instant time(String text) {
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException malformed) {
      throw new Rejection.Invalid("after must be a time such as 2026-01-31T12:00:00Z");
    }
  }

  private Reply add(Request request) {
    var context = callers.session(request).contextId();
    var event = request.body(NewEvent.class);
    if (!Id.valid(event.id())) {
      throw Id.refusal("id");
    }
    var data = event.data().isString() ? event.data().asString() : event.data().toString();
    var kept = Json.object().put("id", event.id()).put("data", data);
    var drafts = new ArrayList<Draft>();
    delta(data)
        .map(delta -> Draft.of(new StateUpdated(delta, request.principal())))
        .ifPresent(drafts::add);
    drafts.add(Draft.of(new InternalRaw(SessionEvents.POSTED, kept.toString())));
    // A repeated event is stored once; a different event with the same id is rejected.
    var once =
        new Guard.Once(request.principal(), "session-event:" + event.id(), request.bodyHash());
    parts.log().append(context, once, Decision.always(drafts.toArray(Draft[]::new)));
    return Envelope.of(201, kept, "Event added to session");
  }

  /// The change to the session's state in an event. Keys that begin with `temp:` are not stored.
  private static Optional<ObjectNode> delta(String data) {
    try {
      var actions = Json.mapper().readTree(data).path("actions");
      var named = actions.has("state_delta") ? "state_delta" : "stateDelta";
      if (actions.path(named) instanceof ObjectNode delta) {
        var kept = delta.deepCopy();
        kept.remove(delta.propertyNames().stream().filter(k -> k.startsWith("temp:")).toList());
        return Optional.of(kept).filter(left -> !left.isEmpty());
      }
    } catch (JacksonException notJson) {
      // Data that is not JSON is stored unchanged and does not change the state.
    }
    return Optional.empty();
  }
}
