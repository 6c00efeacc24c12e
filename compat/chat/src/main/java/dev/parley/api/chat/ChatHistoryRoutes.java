package dev.parley.api.chat;

import dev.parley.api.ApiDependencies;
import dev.parley.api.MessageEditor;
import dev.parley.api.chat.ChatMessageRoutes.ChatAccepted;
import dev.parley.api.chat.ChatTaskResults.ChatStatus;
import dev.parley.api.chat.ChatTaskResults.TaskCosts;
import dev.parley.api.chat.ConversationRoutes.ChatSuccess;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.MessageView.EditView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import dev.parley.protocol.Timestamps;
import dev.parley.task.Rewinder;
import dev.parley.task.Submission;
import dev.parley.task.Submission.MessageLabel;
import dev.parley.task.Submission.TaskOptions;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Routes for the messages of a conversation: list, show, edit, rerun and hide them.
final class ChatHistoryRoutes {

  private static final String ALL = ConversationRoutes.ONE + "/messages";
  private static final String ONE = ALL + "/{m}";

  private final ApiDependencies parts;
  private final Rewinder rewinder;
  private final MessageEditor editor;

  ChatHistoryRoutes(ApiDependencies parts, Rewinder rewinder) {
    this.parts = parts;
    this.rewinder = rewinder;
    this.editor = new MessageEditor(parts.log(), parts.views());
  }

  /// A page of messages, oldest first. `nextAfter` is the next `after`.
  record ChatMessages(
      boolean success, List<ChatMessage> messages, long total, boolean hasMore, long nextAfter) {}

  /// One message, and its earlier texts.
  record OneMessage(boolean success, ChatMessage message, List<EditView> history) {}

  /// The new text of a message, and whether to rerun it.
  record ChatEdit(@Nullable String content, @Nullable Boolean rerun) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            ALL,
            "Lists messages, oldest first",
            ResponseDescription.one(ChatMessages.class),
            List.of(
                ConversationRoutes.OFFSET,
                Parameter.LIMIT,
                Parameter.query(
                    "after", Parameter.Type.INTEGER, "only messages after this nextAfter")),
            this::list),
        Route.get(ONE, "Shows a message", ResponseDescription.one(OneMessage.class), this::show),
        Route.withBody(
            Route.Method.PATCH,
            ONE,
            new Route.RouteDescription(
                "Edits a message; with rerun, rewinds to before it and sends it again",
                List.of(ChatMessageRoutes.KEY),
                ChatEdit.class,
                ResponseDescription.one(OneMessage.class)),
            this::edit),
        Route.withoutBody(
            Route.Method.DELETE,
            ONE,
            "Hides a message",
            ResponseDescription.one(ChatSuccess.class),
            this::delete));
  }

  private Reply list(Request request) {
    var context = parts.access().context(request);
    var offset = request.number("offset", 0);
    var after = request.number("after", 0);
    if (offset.isPresent() && after.isPresent()) {
      throw new Rejection.Invalid("offset and after cannot be combined; use one of them");
    }
    var views = parts.views();
    if (offset.isPresent()) {
      var found = views.messagesFrom(context, offset.get(), request.limit());
      var total = views.context(context).messageCount();
      // Beyond the end this is the last message, so that the next page has only new ones.
      var last = views.latestMessages(context, 1).stream().mapToLong(MessageView::seq).findFirst();
      return reply(context, found, total, offset.get() + found.size() < total, last.orElse(0));
    }
    var page = views.messages(context, after.orElse(0L), request.limit());
    var total = views.context(context).messageCount();
    return reply(context, page.items(), total, page.nextCursor() != null, after.orElse(0L));
  }

  private Reply reply(
      ContextId context, List<MessageView> found, long total, boolean more, long after) {
    var tasks = tasks(context, found);
    var list =
        found.stream()
            .map(view -> ChatMessage.of(context, view, task(context, view, tasks)))
            .toList();
    var last = found.isEmpty() ? after : found.getLast().seq();
    return new Reply.Json(200, new ChatMessages(true, list, total, more, last));
  }

  /// The tasks that the messages started. Each directly follows its message in the log.
  private Map<TaskId, TaskView> tasks(ContextId context, List<MessageView> found) {
    var tasks = new HashMap<TaskId, TaskView>();
    if (!found.isEmpty()) {
      parts.views().rootTasks(context, found.getFirst().seq(), found.getLast().seq() + 1).stream()
          .forEach(task -> tasks.put(task.taskId(), task));
    }
    return tasks;
  }

  private @Nullable TaskView task(
      ContextId context, MessageView message, Map<TaskId, TaskView> known) {
    var id = message.taskId();
    if (id == null) {
      return null;
    }
    var task = known.get(id);
    return task != null ? task : parts.views().task(context, id).orElse(null);
  }

  private Reply show(Request request) {
    var context = parts.access().context(request);
    return one(context, editor.find(context, new MessageId(request.path("m"))));
  }

  private Reply one(ContextId context, MessageView view) {
    var message = ChatMessage.of(context, view, task(context, view, Map.of()));
    return new Reply.Json(200, new OneMessage(true, message, parts.views().edits(context, view)));
  }

  private Reply edit(Request request) {
    var context = parts.access().context(request);
    var id = new MessageId(request.path("m"));
    var edit = request.body(ChatEdit.class);
    var content = ChatMessageRoutes.text(edit.content());
    return Boolean.TRUE.equals(edit.rerun())
        ? rerun(request, context, id, content)
        : one(context, editor.edit(context, id, content, request.principal()));
  }

  private Reply rerun(Request request, ContextId context, MessageId id, String content) {
    // A repeated request does not find the message; its idempotency key returns the first reply.
    var message = parts.views().message(context, id);
    if (message.isEmpty() && request.idempotencyKey().isEmpty()) {
      throw new Rejection.NotFound("no such message: " + id);
    }
    if (message.filter(view -> view.role() != Role.USER).isPresent()) {
      throw new Rejection.Invalid("only a message of the user can be rerun");
    }
    var options =
        message
            .flatMap(view -> Optional.ofNullable(view.taskId()))
            .flatMap(task -> parts.views().task(context, task))
            .map(ChatHistoryRoutes::sameOptions)
            .orElse(TaskOptions.NONE);
    var label =
        message
            .flatMap(view -> view.facts().client())
            .map(MessageLabel::of)
            .orElse(MessageLabel.NONE);
    var submission =
        new Submission(
            context, request.caller(), content, null, options, request.idempotencyGuard(), label);
    parts.access().checkAgent(request.caller(), submission);
    var target = new Rewinder.RewindDestination.BeforeMessage(id);
    var accepted = parts.tasks().submit(submission, () -> rewinder.plan(context, target));
    return new Reply.Json(202, ChatAccepted.of(accepted));
  }

  /// The same options as the first time.
  private static TaskOptions sameOptions(TaskView task) {
    return new TaskOptions(
        task.agentId(),
        task.taskType(),
        task.priority(),
        task.timeoutMs(),
        task.workingDirectory(),
        null,
        null,
        List.of());
  }

  private Reply delete(Request request) {
    var context = parts.access().context(request);
    editor.delete(context, new MessageId(request.path("m")), request.principal());
    return new Reply.Json(200, new ChatSuccess(true, null));
  }

  /// A message of a conversation.
  record ChatMessage(
      MessageId id,
      ContextId conversationId,
      Role role,
      String content,
      Instant createdAt,
      @Nullable ObjectNode metadata) {

    /// The message, with data of its task if that is known.
    static ChatMessage of(ContextId context, MessageView view, @Nullable TaskView task) {
      var metadata = Json.object();
      view.facts().client().ifPresent(metadata::setAll);
      if (view.taskId() != null) {
        metadata.put("taskId", view.taskId().value());
      }
      if (view.agentId() != null) {
        var agent = view.agentId().value();
        metadata.put(
            "agentId",
            task == null ? agent : ChatTaskResults.answerAuthor(task.endFacts()).orElse(agent));
      }
      if (view.metadata() != null) {
        metadata.setAll(view.metadata());
        MessageFacts.removeClient(metadata);
      }
      if (view.role() == Role.ASSISTANT && task != null && view.facts().hasUsage()) {
        Optional.ofNullable(TaskCosts.of(task.endFacts()).usage())
            .ifPresent(usage -> metadata.set("usage", usage));
      }
      if (view.editedAt() != null) {
        metadata.put("editedAt", Timestamps.format(view.editedAt()));
      }
      if (view.role() == Role.USER && task != null) {
        addFailure(task, metadata);
      }
      return new ChatMessage(
          view.messageId(),
          context,
          view.role(),
          view.content(),
          view.createdAt(),
          metadata.isEmpty() ? null : metadata);
    }

    /// Marks a user's message as unanswered if its task failed, so that the history shows the
    /// reason.
    private static void addFailure(TaskView task, ObjectNode metadata) {
      var error = task.error();
      var status = ChatStatus.of(task);
      if (status.ended() && status != ChatStatus.SUCCESS) {
        metadata.put("status", status.wire());
        if (error != null) {
          metadata.put("error", error.message()).put("code", error.code());
        }
      }
    }
  }
}
