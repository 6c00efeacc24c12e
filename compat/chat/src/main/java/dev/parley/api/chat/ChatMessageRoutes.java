package dev.parley.api.chat;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.TaskId;
import dev.parley.task.Submission;
import dev.parley.task.Submission.MessageLabel;
import dev.parley.task.Submission.TaskOptions;
import dev.parley.task.WhenBusy;
import java.io.File;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `POST /chat/messages`: sends a message to a conversation, which is created if needed.
final class ChatMessageRoutes {

  static final Parameter KEY =
      Parameter.header("Idempotency-Key", "makes it safe to repeat the request");

  private final ApiDependencies parts;

  ChatMessageRoutes(ApiDependencies parts) {
    this.parts = parts;
  }

  /// A message of a person, and how it is to be processed. Other fields are ignored: the server
  /// chooses ids.
  record ChatPost(
      @Nullable String content,
      @Nullable ContextId conversationId,
      @Nullable String workingDirectory,
      @Nullable AgentTypeId agentId,
      @Nullable String taskType,
      @Nullable Priority priority,
      @Nullable Long timeoutMs,
      @Nullable String strategy,
      @Nullable WhenBusy whenBusy,
      @Nullable ObjectNode metadata) {}

  /// The reply: the message is stored in the log.
  record ChatAccepted(
      boolean success, ContextId conversationId, MessageId messageId, TaskId taskId) {

    static ChatAccepted of(AcceptedMessage accepted) {
      return new ChatAccepted(true, accepted.contextId(), accepted.messageId(), accepted.taskId());
    }
  }

  List<Route> routes() {
    return List.of(
        Route.withBody(
            Route.Method.POST,
            "/chat/messages",
            new Route.RouteDescription(
                "Sends a message to a conversation, which is created if needed",
                List.of(KEY),
                ChatPost.class,
                ResponseDescription.one(202, ChatAccepted.class)),
            this::post));
  }

  private Reply post(Request request) {
    var post = request.body(ChatPost.class);
    if (post.whenBusy() == WhenBusy.STEER) {
      // The message replaces an answer to the task's question.
      var _ = parts.approvals().person(request);
    }
    var context =
        post.conversationId() == null
            ? ContextIdGenerator.of(request, parts.ids())
            : post.conversationId();
    var options =
        new TaskOptions(
            post.agentId(),
            taskType(post.taskType()),
            post.priority(),
            post.timeoutMs(),
            absolute(post.workingDirectory()),
            post.strategy(),
            post.whenBusy(),
            List.of());
    var submission =
        new Submission(
            context,
            request.caller(),
            text(post.content()),
            null,
            options,
            request.idempotencyGuard(),
            MessageLabel.of(post.metadata()));
    parts.access().checkAgent(request.caller(), submission);
    if (!parts.access().mayUse(request, context)) {
      // Checked first: a rejected message must not leave an empty conversation behind.
      parts.tasks().check(submission);
      parts
          .access()
          .create(request.caller(), context, new ContextCreated(request.principal(), null, null));
    }
    return new Reply.Json(202, ChatAccepted.of(parts.tasks().submit(submission)));
  }

  private static @Nullable String taskType(@Nullable String type) {
    if (type != null && !ChatTaskTypes.ALL.contains(type)) {
      throw new Rejection.Invalid(
          "taskType must be one of " + String.join(", ", ChatTaskTypes.ALL));
    }
    return type;
  }

  /// A relative path would depend on the server's own directory, which clients do not know.
  private static @Nullable String absolute(@Nullable String workingDirectory) {
    if (workingDirectory != null && !new File(workingDirectory).isAbsolute()) {
      throw new Rejection.Invalid(
          "invalid-working-directory",
          "workingDirectory must be an absolute path, not " + workingDirectory);
    }
    return workingDirectory;
  }

  static String text(@Nullable String content) {
    if (content == null || content.isBlank()) {
      throw new Rejection.Invalid("content is required: a message needs text");
    }
    return content;
  }
}
