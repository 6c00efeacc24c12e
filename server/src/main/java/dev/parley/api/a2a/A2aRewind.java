package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aStatus;
import dev.parley.a2a.A2aStatusUpdate;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.SendMessageRequest;
import dev.parley.http.ApiDependencies;
import dev.parley.http.FrameCursor;
import dev.parley.log.AppendGuard;
import dev.parley.projection.TaskView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.Rewinder;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Rewinds a context to before one of its turns. Clients of kagent request this in a message's
/// metadata.
final class A2aRewind {

  private final ApiDependencies parts;
  private final A2aTaskLookup a2aTaskLookup;
  private final A2aMessageSender sender;
  private final A2aTaskReader taskReader;
  private final SessionTasks tasks;
  private final Rewinder rewinder;
  private final RewindTargets targets;

  A2aRewind(
      ApiDependencies parts,
      A2aTaskLookup a2aTaskLookup,
      A2aMessageSender a2aMessageSender,
      A2aTaskReader form) {
    this.parts = parts;
    this.a2aTaskLookup = a2aTaskLookup;
    this.sender = a2aMessageSender;
    this.taskReader = form;
    this.tasks = new SessionTasks(parts, form);
    this.rewinder = new Rewinder(parts.log(), parts.views());
    this.targets = new RewindTargets(parts.views(), parts.tasks());
  }

  /// The result of a rewind: its frame id, the session as one task, and the task that the message
  /// started, if it has text.
  record RewindResult(FrameCursor id, A2aTask sessionTask, @Nullable TaskView newTask) {

    /// The item for a stream. A failed rewind is a status update, because a task would replace the
    /// session's tasks in the client.
    A2aResponseItem item() {
      return sessionTask.status().state() == A2aState.FAILED
          ? new A2aStatusUpdate(
              sessionTask.id(),
              sessionTask.contextId(),
              sessionTask.status(),
              true,
              sessionTask.metadata())
          : sessionTask;
    }
  }

  /// True if the message requests a rewind.
  static boolean isRewind(SendMessageRequest request) {
    var metadata = request.message().metadata();
    return metadata != null && metadata.path(KagentMetadata.REWIND).isString();
  }

  /// Rewinds the context, then sends the message if it has text. If the rewind is rejected, returns
  /// a failed task and changes nothing.
  ///
  /// @throws A2aException if the context does not exist or the caller may not see it
  RewindResult rewind(A2aCaller a2aCaller, SendMessageRequest request) {
    var message = request.message();
    if (message.contextId() == null || !Id.valid(message.contextId())) {
      throw new A2aException(
          A2aError.INVALID_PARAMS, "message.contextId: a rewind needs the session's id");
    }
    var context = new ContextId(message.contextId());
    try {
      a2aTaskLookup.check(a2aCaller, context);
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw new A2aException(
          A2aError.INVALID_PARAMS, "message.contextId: no such context: " + context);
    }
    try {
      return rewind(a2aCaller, request, context);
    } catch (Rejection refused) {
      return new RewindResult(
          FrameCursor.of(Position.START), failed(a2aCaller, context, refused), null);
    }
  }

  private RewindResult rewind(A2aCaller a2aCaller, SendMessageRequest request, ContextId context) {
    var metadata = Objects.requireNonNull(request.message().metadata());
    var cancel = metadata.path(RewindTargets.CANCEL).asBoolean(false);
    var before =
        targets.find(
            context,
            metadata.path(KagentMetadata.REWIND).stringValue(),
            cancel,
            a2aCaller.principal());
    if (MessageText.of(request.message()).isBlank()) {
      var appendedRewind =
          rewinder.rewind(context, before, AppendGuard.none(), a2aCaller.principal());
      var id = FrameCursor.of(Position.of(appendedRewind.seq()));
      return new RewindResult(id, session(a2aCaller, context), null);
    }
    var task =
        sender.rewindAndSend(a2aCaller, request, context, () -> rewinder.plan(context, before));
    // The rewind is the entry before the message.
    var seq = Math.max(0, task.seq() - 2);
    return new RewindResult(FrameCursor.of(Position.of(seq)), session(a2aCaller, context), task);
  }

  /// The session as one task, with the messages that remain after the rewind.
  private A2aTask session(A2aCaller a2aCaller, ContextId context) {
    var history = tasks.retainedTask(a2aCaller.version(), context).map(A2aTask::history);
    return task(a2aCaller, context, A2aState.COMPLETED, null, history.orElse(List.of()));
  }

  private A2aTask failed(A2aCaller a2aCaller, ContextId context, Rejection refused) {
    var marks = kagentMetadata(a2aCaller, context);
    var message =
        new A2aMessage(
            parts.ids().get().toString(),
            context.value(),
            context.value(),
            A2aRole.AGENT,
            List.of(A2aPart.text("the rewind failed: " + refused.getMessage())),
            marks.ofMessage(null, a2aCaller.agent().value()));
    return task(a2aCaller, context, A2aState.FAILED, message, List.of());
  }

  private KagentMetadata kagentMetadata(A2aCaller a2aCaller, ContextId context) {
    return taskReader.kagentMetadata(context, new TaskId(context.value()), a2aCaller.agent());
  }

  private A2aTask task(
      A2aCaller a2aCaller,
      ContextId context,
      A2aState state,
      @Nullable A2aMessage message,
      List<A2aMessage> history) {
    var metadata = kagentMetadata(a2aCaller, context).ofTask();
    if (state == A2aState.COMPLETED) {
      metadata.put(KagentMetadata.REWOUND, true);
    }
    return new A2aTask(
        context.value(),
        context.value(),
        new A2aStatus(state, message, parts.clock().instant()),
        List.of(),
        history,
        metadata);
  }
}
