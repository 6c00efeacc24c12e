package dev.parley.api.openai;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.api.MessageEditor;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.log.EventDraft;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Rejection;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// `/v1/conversations`: contexts, and their messages as items.
final class OpenAiConversationRoutes {

  private static final String ALL = AgentModels.PREFIX + "/conversations";
  private static final String ONE = ALL + "/{c}";
  private static final String ITEMS = ONE + "/items";
  private static final String ITEM = ITEMS + "/{item}";
  private static final String JSON = "application/json";
  private static final int ITEMS_MAX = 20;

  private final ApiDependencies parts;
  private final ResponseInputItems inputItems;
  private final MessageEditor messages;

  OpenAiConversationRoutes(ApiDependencies parts) {
    this.parts = parts;
    this.inputItems = new ResponseInputItems(parts);
    this.messages = new MessageEditor(parts.log(), parts.views());
  }

  /// New metadata, or new items.
  record ConversationBody(@Nullable ObjectNode metadata, @Nullable List<ObjectNode> items) {}

  List<Route> routes() {
    return List.of(
        withBody(ALL, "Creates a conversation", this::create),
        Route.get(ONE, "Shows a conversation", ResponseDescription.other(JSON), this::show),
        withBody(ONE, "Replaces the metadata of a conversation", this::update),
        Route.withoutBody(
                Route.Method.DELETE,
                ONE,
                "Deletes a conversation and all its data",
                ResponseDescription.other(JSON),
                this::delete)
            .doing(Action.OWN),
        Route.get(
            ITEMS,
            "Lists the messages of a conversation as items",
            ResponseDescription.other(JSON),
            OpenAiPage.PARAMETERS,
            this::items),
        withBody(ITEMS, "Adds messages to a conversation", this::addItems),
        Route.get(
            ITEM,
            "Shows a message as an item",
            ResponseDescription.other(JSON),
            List.of(Parameter.ANY_OTHER),
            this::item),
        Route.withoutBody(
            Route.Method.DELETE,
            ITEM,
            "Hides a message",
            ResponseDescription.other(JSON),
            this::deleteItem));
  }

  private static Route withBody(String path, String summary, Route.RouteHandler handler) {
    return Route.withBody(
        Route.Method.POST,
        path,
        new Route.RouteDescription(
            summary,
            List.of(ChatCompletionRoutes.KEY, Parameter.ANY_OTHER),
            ConversationBody.class,
            ResponseDescription.other(JSON)),
        handler);
  }

  /// The context of a conversation. A context that another API created is a conversation as well,
  /// with or without the prefix.
  static ContextId context(String id) {
    return new ContextId(
        id.startsWith(ResponseRecord.CONVERSATION)
            ? id.substring(ResponseRecord.CONVERSATION.length())
            : id);
  }

  private ContextId checked(Request request) {
    var context = context(request.path("c"));
    try {
      parts.access().check(request, context);
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw new Rejection.NotFound("Conversation with id '" + request.path("c") + "' not found.");
    }
    return context;
  }

  private ObjectNode conversation(ContextId context) {
    var view = parts.views().context(context);
    var json = Json.object().put("id", ResponseRecord.CONVERSATION + context);
    json.put("object", "conversation").put("created_at", view.createdAt().getEpochSecond());
    var metadata = view.metadata();
    return json.set("metadata", metadata == null ? Json.object() : metadata);
  }

  private Reply create(Request request) {
    var body = request.body(ConversationBody.class);
    var context = ContextIdGenerator.of(request, parts.ids());
    var drafts = drafts(body.items(), request.principal());
    parts
        .access()
        .create(
            request.caller(),
            context,
            new ContextCreated(request.principal(), null, body.metadata()));
    append(request, context, drafts);
    return new Reply.Json(200, conversation(context));
  }

  private Reply show(Request request) {
    return new Reply.Json(200, conversation(checked(request)));
  }

  private Reply update(Request request) {
    var context = checked(request);
    var metadata = request.body(ConversationBody.class).metadata();
    parts
        .contextEditor()
        .replace(context, null, metadata == null ? Json.object() : metadata, request.principal());
    return new Reply.Json(200, conversation(context));
  }

  private Reply delete(Request request) {
    var context = checked(request);
    parts.deletion().delete(context, request.principal());
    return new Reply.Json(
        200,
        Json.object()
            .put("id", ResponseRecord.CONVERSATION + context)
            .put("object", "conversation.deleted")
            .put("deleted", true));
  }

  private Reply items(Request request) {
    var items = inputItems.all(checked(request)).stream().map(ResponseInputItems::item).toList();
    return new Reply.Json(200, OpenAiPage.of(request, items));
  }

  private Reply addItems(Request request) {
    var context = checked(request);
    var drafts = drafts(request.body(ConversationBody.class).items(), request.principal());
    if (drafts.isEmpty()) {
      throw new Rejection.Invalid("items must be a list of 1 to " + ITEMS_MAX + " messages");
    }
    append(request, context, drafts);
    var json = Json.object().put("object", "list").put("has_more", false);
    var data = json.putArray("data");
    for (var draft : drafts) {
      if (draft.event() instanceof Message message) {
        parts
            .views()
            .message(context, message.messageId())
            .ifPresent(view -> data.add(ResponseInputItems.item(view)));
      }
    }
    return new Reply.Json(200, json);
  }

  private void append(Request request, ContextId context, List<EventDraft> drafts) {
    if (!drafts.isEmpty()) {
      parts.log().append(context, request.idempotencyGuard(), _ -> drafts);
    }
  }

  private List<EventDraft> drafts(@Nullable List<ObjectNode> items, String principal) {
    var drafts = new ArrayList<EventDraft>();
    var given = items == null ? List.<ObjectNode>of() : items;
    if (given.size() > ITEMS_MAX) {
      throw new Rejection.Invalid("there are at most " + ITEMS_MAX + " items");
    }
    for (var i = 0; i < given.size(); i++) {
      var item = given.get(i);
      var path = "items[" + i + "]";
      if (!item.path("type").asString("message").equals("message")) {
        // Calls and results are already in the log of the task that made them.
        continue;
      }
      var role = role(item, path);
      var text = ContentText.read(item.path("content"), path + ".content");
      if (!text.isBlank()) {
        var id = new MessageId(parts.ids().get().toString());
        drafts.add(EventDraft.of(new Message(id, role, text, null, null, principal)));
      }
    }
    return drafts;
  }

  private static Role role(JsonNode item, String path) {
    return switch (item.path("role").asString("")) {
      case "user" -> Role.USER;
      case "assistant" -> Role.ASSISTANT;
      default -> throw new Rejection.Invalid(path + ".role must be user or assistant");
    };
  }

  private MessageView message(Request request, ContextId context) {
    var id = request.path("item").replaceFirst("^msg_", "");
    return messages.find(context, new MessageId(id));
  }

  private Reply item(Request request) {
    var context = checked(request);
    return new Reply.Json(200, ResponseInputItems.item(message(request, context)));
  }

  private Reply deleteItem(Request request) {
    var context = checked(request);
    var found = message(request, context);
    messages.delete(context, found.messageId(), request.principal());
    return new Reply.Json(200, conversation(context));
  }
}
