package dev.parley.api.a2a.sessions;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.http.ApiTokens;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.projection.ContextList;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes that create, list, change and delete sessions.
final class SessionRoutes {

  static final String ALL = "/api/sessions";
  static final String ONE = ALL + "/{c}";
  private static final int NAME_MAX = 500;
  private static final int SESSIONS_MAX = 1000;
  private static final List<Parameter> PAGE =
      List.of(
          SessionAccess.USER,
          SessionAccess.USER_HEADER,
          Parameter.query("limit", Parameter.Type.INTEGER, "at most this many"),
          Parameter.query("offset", Parameter.Type.INTEGER, "skip this many"));

  private final ApiDependencies parts;
  private final SessionAccess sessionAccess;
  private final AgentReferences agents;

  SessionRoutes(ApiDependencies parts, SessionAccess sessionAccess) {
    this.parts = parts;
    this.sessionAccess = sessionAccess;
    this.agents = new AgentReferences(parts.agentTypes());
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
        Route.get(ALL, "Lists sessions", SessionEnvelope.RESPONSE, PAGE, this::list),
        Route.get(
            ALL + "/agent/{ns}/{name}",
            "Lists sessions with one agent",
            SessionEnvelope.RESPONSE,
            PAGE,
            this::listOfAgent),
        SessionEnvelope.route(
            Route.Method.POST, ALL, "Creates a session", NewSession.class, this::create),
        SessionEnvelope.route(
            Route.Method.PUT, ONE, "Changes a session", SessionChange.class, this::change),
        SessionEnvelope.route(
            Route.Method.PATCH, ONE, "Changes a session", SessionChange.class, this::change),
        SessionEnvelope.route(
                Route.Method.DELETE, ONE, "Deletes a session permanently", null, this::delete)
            .doing(Action.OWN));
  }

  private Reply list(Request request) {
    return list(request, null);
  }

  private Reply listOfAgent(Request request) {
    return list(request, agents.find(request.path("ns") + "/" + request.path("name")));
  }

  private Reply list(Request request, @Nullable AgentTypeId agent) {
    var contextFilter =
        new ContextList.ContextFilter(
            parts.access().visible(request.caller()),
            agent,
            SessionAccess.user(request).orElse(null));
    var limit = request.query("limit").isPresent() ? request.limit() : SESSIONS_MAX;
    var offset = request.number("offset", 0).orElse(0L);
    var sessions =
        parts.views().contextList().page(contextFilter, offset, limit).stream()
            .map(KagentSession::of)
            .toList();
    return SessionEnvelope.of(200, sessions, "Successfully listed sessions");
  }

  private Reply create(Request request) {
    var wanted = request.body(NewSession.class);
    checkName(wanted.name());
    var agent = wanted.agent_ref() == null ? null : agents.find(wanted.agent_ref());
    var user = SessionAccess.user(request).orElse(userInBody(request, wanted.user_id()));
    var id = wanted.id() != null ? wanted.id() : ContextIdGenerator.of(request, parts.ids());
    var metadata = KagentSession.metadata(null, agent, user, wanted.source());
    var created = new ContextCreated(request.principal(), wanted.name(), metadata);
    if (!create(request, id, created)) {
      throw new Rejection.Conflict("context-exists", "a session with this id exists: " + id);
    }
    if (wanted.state() != null && !wanted.state().isEmpty()) {
      var begun = EventDraft.of(new StateUpdated(wanted.state(), request.principal()));
      parts.log().append(id, AppendGuard.none(), Decision.always(begun));
    }
    return sessionReply(201, parts.views().context(id), "Successfully created session");
  }

  private boolean create(Request request, ContextId id, ContextCreated created) {
    try {
      return parts.access().create(request.caller(), id, created);
    } catch (Rejection.NotFound another) {
      return false;
    }
  }

  /// The user in the body, unless a token identifies the caller.
  private static @Nullable String userInBody(Request request, @Nullable String user) {
    return request.principal().equals(ApiTokens.LOCAL) ? user : null;
  }

  private Reply change(Request request) {
    var change = request.body(SessionChange.class);
    var context = sessionAccess.session(request).contextId();
    checkName(change.name());
    parts.contextEditor().change(context, before -> drafts(before, change, request.principal()));
    return sessionReply(200, parts.views().context(context), "Successfully updated session");
  }

  private List<EventDraft> drafts(ContextView before, SessionChange change, String principal) {
    var agent = change.agent_ref() == null ? null : agents.find(change.agent_ref());
    var drafts = new ArrayList<EventDraft>();
    var described = agent != null || change.source() != null;
    if (change.name() != null || described) {
      var metadata =
          described
              ? KagentSession.metadata(before.metadata(), agent, null, change.source())
              : null;
      drafts.add(EventDraft.of(new ContextUpdated(change.name(), metadata, principal)));
    }
    if (change.state() != null && !change.state().isEmpty()) {
      drafts.add(EventDraft.of(new StateUpdated(change.state(), principal)));
    }
    if (drafts.isEmpty()) {
      throw new Rejection.Invalid("name, agent_ref, source or state is needed");
    }
    return drafts;
  }

  private Reply sessionReply(int status, ContextView context, String message) {
    return SessionEnvelope.of(
        status, KagentSession.of(parts.views().contextList().find(context)), message);
  }

  private Reply delete(Request request) {
    parts.deletion().delete(sessionAccess.session(request).contextId(), request.principal());
    return SessionEnvelope.done("Session deleted successfully");
  }

  static void checkName(@Nullable String name) {
    if (name != null && (name.isBlank() || name.length() > NAME_MAX)) {
      throw new Rejection.Invalid("a name has 1 to " + NAME_MAX + " characters");
    }
  }
}
