package dev.parley.api.a2a;

import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.a2a.SendMessageRequest;
import dev.parley.api.ApiDependencies;
import dev.parley.api.a2a.A2aMessageSender.MessageText;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import dev.parley.stream.FrameCursor;
import dev.parley.task.Rewinder;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Rewinds a context to before one of its turns. Clients of kagent request this in a message's
/// metadata.
final class A2aRewind {

  private final ApiDependencies parts;
  private final A2aTaskLookup lookup;
  private final A2aMessageSender sender;
  private final A2aTaskReader taskReader;
  private final SessionTasks tasks;
  private final Rewinder rewinder;
  private final RewindTargets targets;

  A2aRewind(
      ApiDependencies parts, A2aTaskLookup lookup, A2aMessageSender sender, A2aTaskReader form) {
    this.parts = parts;
    this.lookup = lookup;
    this.sender = sender;
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
  RewindResult rewind(A2aCaller caller, SendMessageRequest request) {
    var message = request.message();
    if (message.contextId() == null || !Id.valid(message.contextId())) {
      throw A2aException.invalid("message.contextId: a rewind needs the session's id");
    }
    var context = new ContextId(message.contextId());
    try {
      lookup.check(caller, context);
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw A2aException.invalid("message.contextId: no such context: " + context);
    }
    try {
      return rewind(caller, request, context);
    } catch (Rejection refused) {
      return new RewindResult(
          FrameCursor.of(Position.START), failed(caller, context, refused), null);
    }
  }

  private RewindResult rewind(A2aCaller caller, SendMessageRequest request, ContextId context) {
    var metadata = Objects.requireNonNull(request.message().metadata());
    var cancel = metadata.path(RewindTargets.CANCEL).asBoolean(false);
    var before =
        targets.find(
            context,
            metadata.path(KagentMetadata.REWIND).stringValue(),
            cancel,
            caller.principal());
    if (MessageText.of(request.message()).isBlank()) {
      var appendedRewind = rewinder.rewind(context, before, AppendGuard.none(), caller.principal());
      var id = FrameCursor.of(Position.of(appendedRewind.seq()));
      return new RewindResult(id, session(caller, context), null);
    }
    var task = sender.rewindAndSend(caller, request, context, () -> rewinder.plan(context, before));
    // The rewind is the entry before the message.
    var seq = Math.max(0, task.seq() - 2);
    return new RewindResult(FrameCursor.of(Position.of(seq)), session(caller, context), task);
  }

  /// The session as one task, with the messages that remain after the rewind.
  private A2aTask session(A2aCaller caller, ContextId context) {
    var history = tasks.retainedTask(caller.version(), context).map(A2aTask::history);
    return task(caller, context, A2aState.COMPLETED, null, history.orElse(List.of()));
  }

  private A2aTask failed(A2aCaller caller, ContextId context, Rejection refused) {
    var marks = kagentMetadata(caller, context);
    var message =
        new A2aMessage(
            parts.ids().get().toString(),
            context.value(),
            context.value(),
            A2aRole.AGENT,
            List.of(A2aPart.text("the rewind failed: " + refused.getMessage())),
            marks.ofMessage(null, caller.agent().value()));
    return task(caller, context, A2aState.FAILED, message, List.of());
  }

  private KagentMetadata kagentMetadata(A2aCaller caller, ContextId context) {
    return taskReader.kagentMetadata(context, new TaskId(context.value()), caller.agent());
  }

  private A2aTask task(
      A2aCaller caller,
      ContextId context,
      A2aState state,
      @Nullable A2aMessage message,
      List<A2aMessage> history) {
    var metadata = kagentMetadata(caller, context).ofTask();
    if (state == A2aState.COMPLETED) {
      metadata.put(KagentMetadata.REWOUND, true);
    }
    return new A2aTask(
        context.value(),
        context.value(),
        new A2aStatus(state, message, parts.time().instant()),
        List.of(),
        history,
        metadata);
  }
}
