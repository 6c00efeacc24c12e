package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.SendRequest;
import dev.parley.a2a.WireItem;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireRole;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
import dev.parley.a2a.WireStatusUpdate;
import dev.parley.a2a.WireTask;
import dev.parley.door.DoorParts;
import dev.parley.door.FrameCursor;
import dev.parley.log.Guard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.Rewinder;
import dev.parley.view.TaskView;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Rewinds a context to before one of its turns. Clients of kagent request this in a message's
/// metadata.
final class Rewinding {

  private final DoorParts parts;
  private final Lookup lookup;
  private final Sending sending;
  private final TaskForm form;
  private final SessionTasks tasks;
  private final Rewinder rewinder;
  private final RewindTargets targets;

  Rewinding(DoorParts parts, Lookup lookup, Sending sending, TaskForm form) {
    this.parts = parts;
    this.lookup = lookup;
    this.sending = sending;
    this.form = form;
    this.tasks = new SessionTasks(parts, form);
    this.rewinder = new Rewinder(parts.log(), parts.views());
    this.targets = new RewindTargets(parts.views(), parts.tasks());
  }

  /// The result of a rewind: its frame id, the session as one task, and the task that the message
  /// started, if it has text.
  record Rewound(FrameCursor id, WireTask told, @Nullable TaskView task) {

    /// The item for a stream. A failed rewind is a status update, because a task would replace the
    /// session's tasks in the client.
    WireItem item() {
      return told.status().state() == WireState.FAILED
          ? new WireStatusUpdate(told.id(), told.contextId(), told.status(), true, told.metadata())
          : told;
    }
  }

  /// True if the message requests a rewind.
  static boolean isRewind(SendRequest request) {
    var metadata = request.message().metadata();
    return metadata != null && metadata.path(Marks.REWIND).isString();
  }

  /// Rewinds the context, then sends the message if it has text. If the rewind is rejected, returns
  /// a failed task and changes nothing.
  ///
  /// @throws A2aException if the context does not exist or the caller may not see it
  Rewound rewind(Caller caller, SendRequest request) {
    var message = request.message();
    if (message.contextId() == null || !Id.valid(message.contextId())) {
      throw new A2aException(
          A2aError.INVALID_PARAMS, "message.contextId: a rewind needs the session's id");
    }
    var context = new ContextId(message.contextId());
    try {
      lookup.check(caller, context);
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw new A2aException(
          A2aError.INVALID_PARAMS, "message.contextId: no such context: " + context);
    }
    try {
      return rewind(caller, request, context);
    } catch (Rejection refused) {
      return new Rewound(FrameCursor.of(Position.START), failed(caller, context, refused), null);
    }
  }

  private Rewound rewind(Caller caller, SendRequest request, ContextId context) {
    var metadata = Objects.requireNonNull(request.message().metadata());
    var cancel = metadata.path(RewindTargets.CANCEL).asBoolean(false);
    var before =
        targets.find(
            context, metadata.path(Marks.REWIND).stringValue(), cancel, caller.principal());
    if (Wording.of(request.message()).isBlank()) {
      var rewound = rewinder.rewind(context, before, Guard.none(), caller.principal());
      var id = FrameCursor.of(Position.of(rewound.seq()));
      return new Rewound(id, session(caller, context), null);
    }
    var task =
        sending.rewindAndSend(caller, request, context, () -> rewinder.plan(context, before));
    // The rewind is the entry before the message.
    var seq = Math.max(0, task.seq() - 2);
    return new Rewound(FrameCursor.of(Position.of(seq)), session(caller, context), task);
  }

  /// The session as one task, with the messages that remain after the rewind.
  private WireTask session(Caller caller, ContextId context) {
    var history = tasks.kept(caller.version(), context).map(WireTask::history);
    return task(caller, context, WireState.COMPLETED, null, history.orElse(List.of()));
  }

  private WireTask failed(Caller caller, ContextId context, Rejection refused) {
    var marks = marks(caller, context);
    var message =
        new WireMessage(
            parts.ids().get().toString(),
            context.value(),
            context.value(),
            WireRole.AGENT,
            List.of(WirePart.text("the rewind failed: " + refused.getMessage())),
            marks.ofMessage(null, caller.agent().value()));
    return task(caller, context, WireState.FAILED, message, List.of());
  }

  private Marks marks(Caller caller, ContextId context) {
    return form.marks(context, new TaskId(context.value()), caller.agent());
  }

  private WireTask task(
      Caller caller,
      ContextId context,
      WireState state,
      @Nullable WireMessage message,
      List<WireMessage> history) {
    var metadata = marks(caller, context).ofTask();
    if (state == WireState.COMPLETED) {
      metadata.put(Marks.REWOUND, true);
    }
    return new WireTask(
        context.value(),
        context.value(),
        new WireStatus(state, message, parts.clock().instant()),
        List.of(),
        history,
        metadata);
  }
}
