package dev.parley.api.a2a.sessions;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Route;
import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
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
final class SessionEventRoutes {

  private static final int EVENTS_MAX = 1000;
  private static final String RETRIEVED = "Successfully retrieved session";

  private final ApiDependencies parts;
  private final SessionAccess sessionAccess;
  private final SubagentSessions children;
  private final SessionEvents events;

  SessionEventRoutes(
      ApiDependencies parts, SessionAccess sessionAccess, SubagentSessions children) {
    this.parts = parts;
    this.sessionAccess = sessionAccess;
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
            SessionEnvelope.RESPONSE,
            List.of(
                SessionAccess.USER,
                SessionAccess.USER_HEADER,
                Parameter.query("order", "asc or desc; the newest come first if it is missing"),
                Parameter.query("after", "only events after this time"),
                Parameter.query("limit", Parameter.Type.INTEGER, "at most this many events")),
            this::show),
        SessionEnvelope.route(
            Route.Method.POST,
            SessionRoutes.ONE + "/events",
            "Adds an event of an external agent",
            NewEvent.class,
            this::add));
  }

  private Reply show(Request request) {
    var child = children.find(request, sessionAccess);
    if (child.isPresent()) {
      var data = Json.object();
      data.set("session", Json.mapper().valueToTree(children.session(child.get())));
      data.putArray("events");
      return SessionEnvelope.of(200, data, RETRIEVED);
    }
    var readable = sessionAccess.readable(request);
    var context = readable.context();
    var limit = request.number("limit", -1).filter(n -> n > 0).orElse((long) EVENTS_MAX);
    var oldestFirst = oldestFirst(request.query("order").orElse("desc"));
    var query =
        new SessionEvents.SessionEventQuery(
            request.query("after").map(SessionEventRoutes::time).orElse(Instant.MIN),
            (int) Math.min(limit, EVENTS_MAX),
            oldestFirst);
    var session = KagentSession.of(parts.views().contextList().find(context));
    var data = Json.object();
    data.set("session", Json.mapper().valueToTree(session));
    var list = data.putArray("events");
    events.read(context.contextId(), session.user_id(), query).forEach(list::add);
    data.set("state", parts.views().state(context.contextId()));
    if (readable.readOnly()) {
      data.put("read_only", true);
    }
    return SessionEnvelope.of(200, data, RETRIEVED);
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
    var context = sessionAccess.session(request).contextId();
    var event = request.body(NewEvent.class);
    if (!Id.valid(event.id())) {
      throw Id.rejection("id");
    }
    var data = event.data().isString() ? event.data().asString() : event.data().toString();
    var kept = Json.object().put("id", event.id()).put("data", data);
    var drafts = new ArrayList<EventDraft>();
    delta(data)
        .map(delta -> EventDraft.of(new StateUpdated(delta, request.principal())))
        .ifPresent(drafts::add);
    drafts.add(EventDraft.of(new InternalRaw(SessionEvents.POSTED, kept.toString())));
    // A repeated event is stored once; a different event with the same id is rejected.
    var key =
        new AppendGuard.IdempotencyKey(
            request.principal(), "session-event:" + event.id(), request.bodyHash());
    parts.log().append(context, key, Decision.always(drafts.toArray(EventDraft[]::new)));
    return SessionEnvelope.of(201, kept, "Event added to session");
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
