package dev.parley.api.chat;

import dev.parley.api.ApiDependencies;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Rejection;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes for conversations: list, show, rename, delete.
final class ConversationRoutes {

  static final Parameter OFFSET =
      Parameter.query("offset", Parameter.Type.INTEGER, "how many items to skip");
  static final String ONE = "/chat/conversations/{c}";

  private final ApiDependencies parts;

  ConversationRoutes(ApiDependencies parts) {
    this.parts = parts;
  }

  /// A conversation.
  record Conversation(
      ContextId id,
      String title,
      Instant createdAt,
      Instant updatedAt,
      @Nullable ObjectNode metadata) {

    static Conversation of(ContextView view) {
      return new Conversation(
          view.contextId(),
          view.title() == null ? "" : view.title(),
          view.createdAt(),
          view.updatedAt(),
          view.metadata());
    }
  }

  /// A page of conversations, last changed first.
  record Conversations(
      boolean success,
      List<Conversation> conversations,
      long total,
      boolean hasMore,
      @Nullable String nextCursor) {}

  /// One conversation.
  record OneConversation(boolean success, Conversation conversation) {}

  /// A request to change a conversation.
  record ConversationChange(@Nullable String title, @Nullable ObjectNode metadata) {}

  /// The reply to a successful action.
  record ChatSuccess(boolean success, @Nullable String message) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            "/chat/conversations",
            "Lists conversations, last changed first",
            ResponseDescription.one(Conversations.class),
            List.of(OFFSET, Parameter.LIMIT, Parameter.CURSOR),
            this::list),
        Route.get(
            ONE,
            "Shows a conversation",
            ResponseDescription.one(OneConversation.class),
            this::show),
        Route.withBody(
            Route.Method.PATCH,
            ONE,
            new Route.RouteDescription(
                "Renames a conversation or replaces its metadata",
                List.of(),
                ConversationChange.class,
                ResponseDescription.one(OneConversation.class)),
            this::change),
        Route.withoutBody(
                Route.Method.DELETE,
                ONE,
                "Deletes a conversation permanently",
                ResponseDescription.one(ChatSuccess.class),
                this::delete)
            .doing(Action.OWN));
  }

  private Reply list(Request request) {
    var visible = parts.access().visible(request.caller());
    var offset = request.number("offset", 0);
    var cursor = request.query("cursor");
    if (offset.isPresent() && cursor.isPresent()) {
      throw new Rejection.Invalid("offset and cursor cannot be combined; use one of them");
    }
    var views = parts.views();
    if (offset.isPresent()) {
      var found = views.contexts(visible, offset.get(), request.limit());
      var total = views.countContexts(visible);
      return reply(found, total, offset.get() + found.size() < total, null);
    }
    var page = views.contexts(visible, cursor.orElse(null), request.limit());
    var next = page.nextCursor();
    return reply(page.items(), views.countContexts(visible), next != null, next);
  }

  private static Reply reply(
      List<ContextView> found, long total, boolean more, @Nullable String next) {
    var list = found.stream().map(Conversation::of).toList();
    return new Reply.Json(200, new Conversations(true, list, total, more, next));
  }

  private Reply show(Request request) {
    return one(parts.access().context(request));
  }

  private Reply change(Request request) {
    var context = parts.access().context(request);
    var change = request.body(ConversationChange.class);
    parts.contextEditor().replace(context, change.title(), change.metadata(), request.principal());
    return one(context);
  }

  private Reply one(ContextId context) {
    var conversation = Conversation.of(parts.views().context(context));
    return new Reply.Json(200, new OneConversation(true, conversation));
  }

  private Reply delete(Request request) {
    parts.deletion().delete(parts.access().context(request), request.principal());
    return new Reply.Json(200, new ChatSuccess(true, null));
  }
}
