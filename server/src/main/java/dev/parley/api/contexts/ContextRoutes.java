package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextEditor;
import dev.parley.api.ContextIdGenerator;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextSnapshot;
import dev.parley.protocol.ContextSnapshot.UsageView;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes for contexts: create, list, show, rename, delete.
final class ContextRoutes {

  private static final int SNAPSHOT_MESSAGES = 50;
  private static final String ONE = "/api/contexts/{c}";

  private final ApiDependencies parts;

  ContextRoutes(ApiDependencies parts) {
    this.parts = parts;
  }

  /// A request to create a context.
  record NewContext(
      @Nullable ContextId contextId, @Nullable String title, @Nullable ObjectNode metadata) {}

  /// A request to change a context.
  record ContextChange(@Nullable String title, @Nullable ObjectNode metadata) {}

  /// The configured agents, and the folder in which a new context works by default.
  record AgentTypeList(List<AgentTypeView> items, String workingDirectory) {
    AgentTypeList {
      items = List.copyOf(items);
    }
  }

  List<Route> routes() {
    return List.of(
        Route.withBody(
            Route.Method.POST,
            "/api/contexts",
            new Route.RouteDescription(
                "Creates a context",
                List.of(Parameter.header("Idempotency-Key", "makes it safe to repeat the request")),
                NewContext.class,
                ResponseDescription.one(201, ContextView.class)),
            this::create),
        Route.get(
            "/api/contexts",
            "Lists contexts, last changed first",
            ResponseDescription.page(ContextView.class),
            List.of(Parameter.LIMIT, Parameter.CURSOR),
            this::list),
        Route.get(ONE, "Shows a context", ResponseDescription.one(ContextView.class), this::show),
        Route.withBody(
            Route.Method.PATCH,
            ONE,
            new Route.RouteDescription(
                "Renames a context or replaces its metadata",
                List.of(),
                ContextChange.class,
                ResponseDescription.one(ContextView.class)),
            this::change),
        Route.withoutBody(
                Route.Method.DELETE,
                ONE,
                "Deletes a context permanently",
                ResponseDescription.empty(),
                this::delete)
            .doing(Action.OWN),
        Route.get(
            ONE + "/snapshot",
            "Returns a context at a position, from which a stream misses nothing",
            ResponseDescription.one(ContextSnapshot.class),
            List.of(
                Parameter.query("at", "the position, or now"),
                Parameter.query(
                    "messages", Parameter.Type.INTEGER, "how many of the latest messages")),
            this::snapshot),
        Route.get(
            ONE + "/usage",
            "Returns usage and cost of the models",
            ResponseDescription.page(UsageView.class),
            this::usage),
        Route.get(
            "/api/agent-types",
            "Lists the configured agents, and names the default working directory",
            ResponseDescription.one(AgentTypeList.class),
            _ -> new Reply.Json(200, agentTypes())));
  }

  private AgentTypeList agentTypes() {
    var folder = parts.tasks().defaultWorkingDirectory();
    return new AgentTypeList(parts.agentTypes(), folder.toString());
  }

  private Reply create(Request request) {
    var wanted = request.body(NewContext.class);
    ContextEditor.checkTitle(wanted.title());
    var created = new ContextCreated(request.principal(), wanted.title(), wanted.metadata());
    var key = request.idempotencyKey();
    var context =
        wanted.contextId() != null
            ? wanted.contextId()
            : ContextIdGenerator.of(request, parts.ids());
    if (!createNew(request, context, created)) {
      var same = key.isPresent() && created.equals(first(context));
      if (!same) {
        throw wanted.contextId() == null
            ? new Rejection.Conflict("idempotency-key-reused", "the key was used with another body")
            : exists(context);
      }
    }
    return new Reply.Json(
        201, parts.views().context(context), Map.of("Location", "/api/contexts/" + context));
  }

  private boolean createNew(Request request, ContextId context, ContextCreated created) {
    try {
      return parts.access().create(request.caller(), context, created);
    } catch (Rejection.NotFound another) {
      throw exists(context);
    }
  }

  private static Rejection exists(ContextId context) {
    return new Rejection.Conflict("context-exists", "the context exists: " + context);
  }

  private Object first(ContextId context) {
    return parts.log().read(context, Position.START, 1).getFirst().event();
  }

  private Reply list(Request request) {
    var visible = parts.access().visible(request.caller());
    var cursor = request.query("cursor").orElse(null);
    return new Reply.Json(200, parts.views().contexts(visible, cursor, request.limit()));
  }

  private Reply show(Request request) {
    return new Reply.Json(200, parts.views().context(parts.access().context(request)));
  }

  private Reply change(Request request) {
    var context = parts.access().context(request);
    var change = request.body(ContextChange.class);
    parts.contextEditor().replace(context, change.title(), change.metadata(), request.principal());
    return new Reply.Json(200, parts.views().context(context));
  }

  private Reply delete(Request request) {
    ContextId context;
    try {
      context = parts.access().context(request);
    } catch (Rejection.Gone deleted) {
      // A caller that was told that the bytes are not overwritten yet retries, to wait for that.
      parts.deletion().finish(request.context());
      return new Reply.Empty(204);
    }
    parts.deletion().delete(context, request.principal());
    return new Reply.Empty(204);
  }

  private Reply snapshot(Request request) {
    var context = parts.access().context(request);
    var at = request.query("at").map(Position::parse);
    var head = parts.log().head(context);
    if (at.isPresent() && at.get().after(head)) {
      throw ContextEventRoutes.cursorAhead(at.get(), head);
    }
    var messages = request.number("messages", 0).orElse((long) SNAPSHOT_MESSAGES);
    var most = (int) Math.min(messages, dev.parley.http.HttpLimits.PAGE_MAX);
    return new Reply.Json(200, parts.views().snapshot(context, at.orElse(null), most));
  }

  private Reply usage(Request request) {
    var usage = parts.views().usage(parts.access().context(request));
    return new Reply.Json(200, new ResultPage<>(usage, null));
  }
}
