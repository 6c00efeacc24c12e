package dev.parley.door.contexts;

import dev.parley.door.AgentType;
import dev.parley.door.Answer;
import dev.parley.door.Descriptions;
import dev.parley.door.DoorParts;
import dev.parley.door.NewContextId;
import dev.parley.door.Paging;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.view.ContextView;
import dev.parley.view.Page;
import dev.parley.view.Snapshot;
import dev.parley.view.UsageView;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes for contexts: create, list, show, rename, delete.
final class ContextRoutes {

  private static final int SNAPSHOT_MESSAGES = 50;
  private static final String ONE = "/api/contexts/{c}";

  private final DoorParts parts;

  ContextRoutes(DoorParts parts) {
    this.parts = parts;
  }

  /// A request to create a context.
  record NewContext(
      @Nullable ContextId contextId, @Nullable String title, @Nullable ObjectNode metadata) {}

  /// A request to change a context.
  record ContextChange(@Nullable String title, @Nullable ObjectNode metadata) {}

  List<Route> routes() {
    return List.of(
        Route.send(
            Route.Method.POST,
            "/api/contexts",
            new Route.Description(
                "Creates a context",
                List.of(Parameter.header("Idempotency-Key", "makes it safe to repeat the request")),
                NewContext.class,
                Answer.one(201, ContextView.class)),
            this::create),
        Route.get(
            "/api/contexts",
            "Lists contexts, last changed first",
            Answer.page(ContextView.class),
            List.of(Paging.LIMIT, Paging.CURSOR),
            this::list),
        Route.get(ONE, "Shows a context", Answer.one(ContextView.class), this::show),
        Route.send(
            Route.Method.PATCH,
            ONE,
            new Route.Description(
                "Renames a context or replaces its metadata",
                List.of(),
                ContextChange.class,
                Answer.one(ContextView.class)),
            this::change),
        Route.act(
            Route.Method.DELETE,
            ONE,
            "Deletes a context permanently",
            Answer.empty(),
            this::delete),
        Route.get(
            ONE + "/snapshot",
            "Returns a context at a position, from which a stream misses nothing",
            Answer.one(Snapshot.class),
            List.of(
                Parameter.query("at", "the position, or now"),
                Parameter.query(
                    "messages", Parameter.Type.INTEGER, "how many of the latest messages")),
            this::snapshot),
        Route.get(
            ONE + "/usage",
            "Returns usage and cost of the models",
            Answer.page(UsageView.class),
            this::usage),
        Route.get(
            "/api/agent-types",
            "Lists the configured agents",
            Answer.page(AgentType.class),
            _ -> new Reply.Json(200, new Page<>(parts.agentTypes(), null))));
  }

  private Reply create(Request request) {
    var wanted = request.body(NewContext.class);
    Descriptions.checkTitle(wanted.title());
    var created = new ContextCreated(request.principal(), wanted.title(), wanted.metadata());
    var key = request.idempotencyKey();
    var context =
        wanted.contextId() != null ? wanted.contextId() : NewContextId.of(request, parts.ids());
    if (!parts.log().create(context, created)) {
      var same = key.isPresent() && created.equals(first(context));
      if (!same) {
        throw wanted.contextId() == null
            ? new Rejection.Conflict("idempotency-key-reused", "the key was used with another body")
            : new Rejection.Conflict("context-exists", "the context exists: " + context);
      }
    }
    return new Reply.Json(
        201, parts.views().context(context), Map.of("Location", "/api/contexts/" + context));
  }

  private Object first(ContextId context) {
    return parts.log().read(context, Position.START, 1).getFirst().event();
  }

  private Reply list(Request request) {
    var owners = parts.access().owners(request.principal());
    var cursor = request.query("cursor").orElse(null);
    return new Reply.Json(200, parts.views().contexts(owners, cursor, request.limit()));
  }

  private Reply show(Request request) {
    return new Reply.Json(200, parts.views().context(parts.access().context(request)));
  }

  private Reply change(Request request) {
    var context = parts.access().context(request);
    var change = request.body(ContextChange.class);
    parts.descriptions().replace(context, change.title(), change.metadata(), request.principal());
    return new Reply.Json(200, parts.views().context(context));
  }

  private Reply delete(Request request) {
    ContextId context;
    try {
      context = parts.access().context(request);
    } catch (Rejection.Gone deleted) {
      // A caller that was told that the bytes are not overwritten yet retries, to wait for that.
      parts.removal().finish(request.context());
      return new Reply.Empty(204);
    }
    parts.removal().remove(context, request.principal());
    return new Reply.Empty(204);
  }

  private Reply snapshot(Request request) {
    var context = parts.access().context(request);
    var at = request.query("at").map(Position::parse);
    var head = parts.log().head(context);
    if (at.isPresent() && at.get().after(head)) {
      throw EventRoutes.ahead(at.get(), head);
    }
    var messages = request.number("messages", 0).orElse((long) SNAPSHOT_MESSAGES);
    var most = (int) Math.min(messages, dev.parley.door.Limits.PAGE_MAX);
    return new Reply.Json(200, parts.views().snapshot(context, at.orElse(null), most));
  }

  private Reply usage(Request request) {
    var usage = parts.views().usage(parts.access().context(request));
    return new Reply.Json(200, new Page<>(usage, null));
  }
}
