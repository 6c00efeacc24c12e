package dev.parley.door.contexts;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Messages;
import dev.parley.door.NewContextId;
import dev.parley.door.Paging;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.task.Accepted;
import dev.parley.task.Submission;
import dev.parley.task.Submission.Label;
import dev.parley.task.Submission.Options;
import dev.parley.task.WhenBusy;
import dev.parley.view.MessageView;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Routes for messages: send, list, show, edit and hide them.
final class MessageRoutes {

  private static final int CLIENT_TOOLS_MAX = 100;
  private static final String TOOL_NAME = "[A-Za-z0-9_-]{1,64}";
  private static final String JSON = "application/json";
  private static final String EVENTS = "text/event-stream";
  private static final String ALL = "/api/contexts/{c}/messages";
  private static final String ONE = ALL + "/{m}";
  private static final Parameter KEY =
      Parameter.header("Idempotency-Key", "makes it safe to repeat the request");

  private final DoorParts parts;
  private final EventRoutes events;
  private final Messages messages;

  MessageRoutes(DoorParts parts, EventRoutes events) {
    this.parts = parts;
    this.events = events;
    this.messages = new Messages(parts.log(), parts.views());
  }

  /// A message of a person, and how it is to be processed. `role` is optional, and can only be
  /// `user`.
  record NewMessage(
      @Nullable Role role,
      @Nullable String content,
      @Nullable List<JsonNode> parts,
      @Nullable AgentTypeId agentId,
      @Nullable String taskType,
      @Nullable Priority priority,
      @Nullable Long timeoutMs,
      @Nullable String workingDirectory,
      @Nullable String strategy,
      @Nullable WhenBusy whenBusy,
      @Nullable List<ClientTool> clientTools,
      @Nullable ObjectNode metadata) {}

  /// A tool that the client runs itself: the task requests the call and waits for the result.
  record ClientTool(String name, @Nullable String description, ObjectNode schema) {
    ClientTool {
      if (!name.matches(TOOL_NAME)) {
        throw new Rejection.Invalid("a client tool's name is 1 to 64 of A-Z a-z 0-9 _ -");
      }
    }

    ObjectNode json() {
      var json = Json.object().put("name", name);
      json.put("description", description == null ? "" : description);
      json.set("schema", schema);
      return json;
    }
  }

  /// A message with its context.
  record Said(@Nullable ContextId contextId, NewMessage message) {}

  /// The new text of a message.
  record Edit(String content) {}

  List<Route> routes() {
    return List.of(
        Route.send(
            Route.Method.POST,
            ALL,
            new Route.Description(
                "Sends a message; with Accept: text/event-stream, streams the events",
                List.of(KEY, Parameter.header("Accept", "text/event-stream or application/json")),
                NewMessage.class,
                Answer.one(202, Accepted.class)),
            this::post),
        Route.send(
            Route.Method.POST,
            "/api/messages",
            new Route.Description(
                "Sends a message to a context, which is created if needed, and streams the events,"
                    + " unless only JSON is accepted",
                List.of(KEY, Parameter.header("Accept", "text/event-stream or application/json")),
                Said.class,
                Answer.stream()),
            this::say),
        Route.get(
            ALL,
            "Lists messages, oldest first",
            Answer.page(MessageView.class),
            List.of(
                Paging.LIMIT,
                Parameter.query(
                    "after", Parameter.Type.INTEGER, "only messages after this seq or nextCursor")),
            this::list),
        Route.get(ONE, "Shows a message", Answer.one(MessageView.class), this::show),
        Route.send(
            Route.Method.PATCH,
            ONE,
            new Route.Description(
                "Edits a message", List.of(), Edit.class, Answer.one(MessageView.class)),
            this::edit),
        Route.act(Route.Method.DELETE, ONE, "Hides a message", Answer.empty(), this::delete));
  }

  private Reply post(Request request) {
    var context = parts.access().context(request);
    var said = request.body(NewMessage.class);
    checkMayAnswer(request, said);
    var accepted = parts.tasks().submit(submission(request, context, said));
    return request.wants(EVENTS) ? events.follow(accepted) : new Reply.Json(202, accepted);
  }

  private Reply say(Request request) {
    var said = request.body(Said.class);
    if (said.message().role() == null) {
      throw new Rejection.Invalid("message.role must be user");
    }
    checkMayAnswer(request, said.message());
    var context =
        said.contextId() == null ? NewContextId.of(request, parts.ids()) : said.contextId();
    var submission = submission(request, context, said.message());
    if (!parts.access().mayUse(request.principal(), context)) {
      // A rejected message must not leave an empty context behind.
      parts.tasks().check(submission);
      parts.log().create(context, new ContextCreated(request.principal(), null, null));
      parts.access().check(request.principal(), context);
    }
    var accepted = parts.tasks().submit(submission);
    return wantsOnlyJson(request) ? new Reply.Json(202, accepted) : events.follow(accepted);
  }

  /// A message to a running task replaces an answer to its question.
  private void checkMayAnswer(Request request, NewMessage message) {
    if (message.whenBusy() == WhenBusy.STEER) {
      var _ = parts.approvals().person(request);
    }
  }

  private static boolean wantsOnlyJson(Request request) {
    var accept = request.header("Accept").orElse("");
    return !accept.contains(",") && accept.replaceFirst(";.*", "").strip().equalsIgnoreCase(JSON);
  }

  static Submission submission(Request request, ContextId context, NewMessage message) {
    if (message.role() != null && message.role() != Role.USER) {
      throw new Rejection.Invalid("message.role must be user");
    }
    var tools = message.clientTools() == null ? List.<ClientTool>of() : message.clientTools();
    if (tools.size() > CLIENT_TOOLS_MAX) {
      throw new Rejection.Invalid("there are at most " + CLIENT_TOOLS_MAX + " client tools");
    }
    var options =
        new Options(
            message.agentId(),
            message.taskType(),
            message.priority(),
            message.timeoutMs(),
            message.workingDirectory(),
            message.strategy(),
            message.whenBusy(),
            tools.stream().map(ClientTool::json).toList());
    return new Submission(
        context,
        request.principal(),
        text(message.content(), message.parts()),
        message.parts(),
        options,
        request.once(),
        Label.of(message.metadata()));
  }

  /// The text of a message: its content, or else the texts of its parts.
  private static String text(@Nullable String content, @Nullable List<JsonNode> parts) {
    var text =
        content != null || parts == null
            ? content
            : parts.stream()
                .map(part -> part.path("text"))
                .filter(JsonNode::isString)
                .map(JsonNode::asString)
                .collect(Collectors.joining("\n"));
    return checked(text);
  }

  private static String checked(@Nullable String text) {
    if (text == null || text.isBlank()) {
      throw new Rejection.Invalid("a message needs text");
    }
    return text;
  }

  private Reply list(Request request) {
    var context = parts.access().context(request);
    var after = request.number("after", 0).orElse(0L);
    return new Reply.Json(200, parts.views().messages(context, after, request.limit()));
  }

  private Reply show(Request request) {
    var context = parts.access().context(request);
    return new Reply.Json(200, messages.find(context, new MessageId(request.path("m"))));
  }

  private Reply edit(Request request) {
    var context = parts.access().context(request);
    var id = new MessageId(request.path("m"));
    var content = checked(request.body(Edit.class).content());
    return new Reply.Json(200, messages.edit(context, id, content, request.principal()));
  }

  private Reply delete(Request request) {
    var context = parts.access().context(request);
    var id = new MessageId(request.path("m"));
    messages.delete(context, id, request.principal());
    return new Reply.Empty(204);
  }
}
