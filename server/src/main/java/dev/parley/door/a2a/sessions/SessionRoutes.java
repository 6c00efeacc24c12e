package dev.parley.door.a2a.sessions;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.NewContextId;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.door.Tokens;
import dev.parley.log.Decision;
import dev.parley.log.Draft;
import dev.parley.log.Guard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.view.ContextView;
import dev.parley.view.Listing;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes that create, list, change and delete sessions.
final class SessionRoutes {

  static final String ALL = "/api/sessions";
  static final String ONE = ALL + "/{c}";
  private static final int NAME_MAX = 500;
  private static final int LISTED = 1000;
  private static final List<Parameter> PAGE =
      List.of(
          Callers.USER,
          Callers.USER_HEADER,
          Parameter.query("limit", Parameter.Type.INTEGER, "at most this many"),
          Parameter.query("offset", Parameter.Type.INTEGER, "skip this many"));

  private final DoorParts parts;
  private final Callers callers;
  private final AgentRefs agents;

  SessionRoutes(DoorParts parts, Callers callers) {
    this.parts = parts;
    this.callers = callers;
    this.agents = new AgentRefs(parts.agentTypes());
  }

  /// A session to create. `state` is its initial state.
  record NewSession(
      @Nullable String agent_ref,
      @Nullable ContextId id,
      @Nullable String name,
      @Nullable String source,
      @Nullable String user_id,
      @Nullable ObjectNode state) {}

  /// A change to a session. `state` has the keys to set; null removes a key.
  record SessionChange(
      @Nullable String name,
      @Nullable String agent_ref,
      @Nullable String source,
      @Nullable ObjectNode state) {}

  List<Route> routes() {
    return List.of(
        Route.get(ALL, "Lists sessions", Answer.other(SessionsDoor.JSON), PAGE, this::list),
        Route.get(
            ALL + "/agent/{ns}/{name}",
            "Lists sessions with one agent",
            Answer.other(SessionsDoor.JSON),
            PAGE,
            this::listOfAgent),
        SessionsDoor.send(
            Route.Method.POST, ALL, "Creates a session", NewSession.class, this::create),
        SessionsDoor.send(
            Route.Method.PUT, ONE, "Changes a session", SessionChange.class, this::change),
        SessionsDoor.send(
            Route.Method.PATCH, ONE, "Changes a session", SessionChange.class, this::change),
        SessionsDoor.act(Route.Method.DELETE, ONE, "Deletes a session permanently", this::delete));
  }

  private Reply list(Request request) {
    return list(request, null);
  }

  private Reply listOfAgent(Request request) {
    return list(request, agents.find(request.path("ns") + "/" + request.path("name")));
  }

  private Reply list(Request request, @Nullable AgentTypeId agent) {
    var which =
        new Listing.Which(
            parts.access().owners(request.principal()), agent, Callers.user(request).orElse(null));
    var limit = request.query("limit").isPresent() ? request.limit() : LISTED;
    var offset = request.number("offset", 0).orElse(0L);
    var sessions =
        parts.views().listing().page(which, offset, limit).stream().map(Session::of).toList();
    return Envelope.of(200, sessions, "Successfully listed sessions");
  }

  private Reply create(Request request) {
    var wanted = request.body(NewSession.class);
    checkName(wanted.name());
    var agent = wanted.agent_ref() == null ? null : agents.find(wanted.agent_ref());
    var user = Callers.user(request).orElse(said(request, wanted.user_id()));
    var id = wanted.id() != null ? wanted.id() : NewContextId.of(request, parts.ids());
    var metadata = Session.metadata(null, agent, user, wanted.source());
    var created = new ContextCreated(request.principal(), wanted.name(), metadata);
    if (!parts.log().create(id, created)) {
      throw new Rejection.Conflict("context-exists", "a session with this id exists: " + id);
    }
    if (wanted.state() != null && !wanted.state().isEmpty()) {
      var begun = Draft.of(new StateUpdated(wanted.state(), request.principal()));
      parts.log().append(id, Guard.none(), Decision.always(begun));
    }
    return one(201, parts.views().context(id), "Successfully created session");
  }

  /// The user in the body, unless a token identifies the caller.
  private static @Nullable String said(Request request, @Nullable String user) {
    return request.principal().equals(Tokens.LOCAL) ? user : null;
  }

  private Reply change(Request request) {
    var change = request.body(SessionChange.class);
    var context = callers.session(request).contextId();
    checkName(change.name());
    parts.descriptions().change(context, before -> drafts(before, change, request.principal()));
    return one(200, parts.views().context(context), "Successfully updated session");
  }

  private List<Draft> drafts(ContextView before, SessionChange change, String principal) {
    var agent = change.agent_ref() == null ? null : agents.find(change.agent_ref());
    var drafts = new ArrayList<Draft>();
    var described = agent != null || change.source() != null;
    if (change.name() != null || described) {
      var metadata =
          described ? Session.metadata(before.metadata(), agent, null, change.source()) : null;
      drafts.add(Draft.of(new ContextUpdated(change.name(), metadata, principal)));
    }
    if (change.state() != null && !change.state().isEmpty()) {
      drafts.add(Draft.of(new StateUpdated(change.state(), principal)));
    }
    if (drafts.isEmpty()) {
      throw new Rejection.Invalid("name, agent_ref, source or state is needed");
    }
    return drafts;
  }

  private Reply one(int status, ContextView context, String message) {
    return Envelope.of(status, Session.of(parts.views().listing().find(context)), message);
  }

  private Reply delete(Request request) {
    parts.removal().remove(callers.session(request).contextId(), request.principal());
    return Envelope.done("Session deleted successfully");
  }

  static void checkName(@Nullable String name) {
    if (name != null && (name.isBlank() || name.length() > NAME_MAX)) {
      throw new Rejection.Invalid("a name has 1 to " + NAME_MAX + " characters");
    }
  }
}
