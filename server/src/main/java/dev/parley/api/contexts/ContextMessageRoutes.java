package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.api.MessageEditor;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.task.Submission;
import dev.parley.task.Submission.MessageLabel;
import dev.parley.task.Submission.TaskOptions;
import dev.parley.task.WhenBusy;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Routes for messages: send, list, show, edit and hide them.
final class ContextMessageRoutes {

  private static final int CLIENT_TOOLS_MAX = 100;
  private static final String TOOL_NAME = "[A-Za-z0-9_-]{1,64}";
  private static final String JSON = "application/json";
  private static final String EVENTS = "text/event-stream";
  private static final String ALL = "/api/contexts/{c}/messages";
  private static final String ONE = ALL + "/{m}";
  private static final Parameter KEY =
      Parameter.header("Idempotency-Key", "makes it safe to repeat the request");

  private final ApiDependencies parts;
  private final ContextEventRoutes events;
  private final MessageEditor messageEditor;

  ContextMessageRoutes(ApiDependencies parts, ContextEventRoutes events) {
    this.parts = parts;
    this.events = events;
    this.messageEditor = new MessageEditor(parts.log(), parts.views());
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
  record MessageWithContext(@Nullable ContextId contextId, NewMessage message) {}

  /// The new text of a message.
  record MessageEdit(String content) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
            Route.Method.POST,
            ALL,
            new Route.RouteDescription(
                "Sends a message; with Accept: text/event-stream, streams the events",
                List.of(KEY, Parameter.header("Accept", "text/event-stream or application/json")),
                NewMessage.class,
                ResponseDescription.one(202, AcceptedMessage.class)),
            this::post),
        Route.withBody(
            Route.Method.POST,
            "/api/messages",
            new Route.RouteDescription(
                "Sends a message to a context, which is created if needed, and streams the events,"
                    + " unless only JSON is accepted",
                List.of(KEY, Parameter.header("Accept", "text/event-stream or application/json")),
                MessageWithContext.class,
                ResponseDescription.stream()),
            this::postToAnyContext),
        Route.get(
            ALL,
            "Lists messages, oldest first",
            ResponseDescription.page(MessageView.class),
            List.of(
                Parameter.LIMIT,
                Parameter.query(
                    "after", Parameter.Type.INTEGER, "only messages after this seq or nextCursor")),
            this::list),
        Route.get(ONE, "Shows a message", ResponseDescription.one(MessageView.class), this::show),
        Route.withBody(
            Route.Method.PATCH,
            ONE,
            new Route.RouteDescription(
                "Edits a message",
                List.of(),
                MessageEdit.class,
                ResponseDescription.one(MessageView.class)),
            this::edit),
        Route.withoutBody(
            Route.Method.DELETE,
            ONE,
            "Hides a message",
            ResponseDescription.empty(),
            this::delete));
  }

  private Reply post(Request request) {
    var context = parts.access().context(request);
    var said = request.body(NewMessage.class);
    checkMayAnswer(request, said);
    var submission = submission(request, context, said);
    parts.access().checkAgent(request.caller(), submission);
    var acceptedMessage = parts.tasks().submit(submission);
    return request.wants(EVENTS)
        ? events.follow(acceptedMessage)
        : new Reply.Json(202, acceptedMessage);
  }

  private Reply postToAnyContext(Request request) {
    var messageWithContext = request.body(MessageWithContext.class);
    if (messageWithContext.message().role() == null) {
      throw new Rejection.Invalid("message.role must be user");
    }
    checkMayAnswer(request, messageWithContext.message());
    var context =
        messageWithContext.contextId() == null
            ? ContextIdGenerator.of(request, parts.ids())
            : messageWithContext.contextId();
    var submission = submission(request, context, messageWithContext.message());
    parts.access().checkAgent(request.caller(), submission);
    if (!parts.access().mayUse(request, context)) {
      // A rejected message must not leave an empty context behind.
      parts.tasks().check(submission);
      parts
          .access()
          .create(request.caller(), context, new ContextCreated(request.principal(), null, null));
    }
    var acceptedMessage = parts.tasks().submit(submission);
    return wantsOnlyJson(request)
        ? new Reply.Json(202, acceptedMessage)
        : events.follow(acceptedMessage);
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
    var taskOptions =
        new TaskOptions(
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
        request.caller(),
        text(message.content(), message.parts()),
        message.parts(),
        taskOptions,
        request.idempotencyGuard(),
        MessageLabel.of(message.metadata()));
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
    return new Reply.Json(200, messageEditor.find(context, new MessageId(request.path("m"))));
  }

  private Reply edit(Request request) {
    var context = parts.access().context(request);
    var id = new MessageId(request.path("m"));
    var content = checked(request.body(MessageEdit.class).content());
    return new Reply.Json(200, messageEditor.edit(context, id, content, request.principal()));
  }

  private Reply delete(Request request) {
    var context = parts.access().context(request);
    var id = new MessageId(request.path("m"));
    messageEditor.delete(context, id, request.principal());
    return new Reply.Empty(204);
  }
}
