package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.projection.TurnPosition;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Rewinds contexts to an earlier position, and forks them.
///
/// Nothing is erased: a rewind is one more event, with its changes to the state and the artifacts.
/// A rewind may go to any position at which no task was running, including positions that an
/// earlier rewind left.
public final class Rewinder {

  private static final int ATTEMPTS_MAX = 10;

  private final EventLog log;
  private final Views views;

  public Rewinder(EventLog log, Views views) {
    this.log = log;
    this.views = views;
  }

  /// The target of a rewind.
  public sealed interface RewindDestination {

    /// Right before the turn of a root task, and so before the message that started it.
    record BeforeTask(TaskId task) implements RewindDestination {}

    /// Right before a message.
    record BeforeMessage(MessageId message) implements RewindDestination {}

    /// Right after this event.
    record ToSeq(long seq) implements RewindDestination {}
  }

  /// A rewind that is in the log, at `seq`.
  public record AppendedRewind(ContextId contextId, long seq, long toSeq) {}

  /// The event that a rewind would append to a context whose last position is `head`, or the reason
  /// why it is not possible.
  public record RewindPlan(
      Position head, @Nullable ContextRewound event, @Nullable Rejection refusal) {

    /// The event, if it may be appended now. Call this from a decision.
    ///
    /// @throws Rejection.Conflict `busy` if a task has not ended
    /// @throws Rejection.Stale if the log has new entries since the plan was made: make another
    ///     plan
    public ContextRewound event(ContextState state) {
      var current = state.head().equals(head);
      if (current && refusal != null) {
        throw refusal;
      }
      if (!state.openTasks().isEmpty()) {
        throw new Rejection.Conflict("busy", "a task of this context has not ended");
      }
      if (!current || event == null) {
        throw new Rejection.Stale("the context has changed since " + head);
      }
      return event;
    }
  }

  /// Appends a rewind.
  ///
  /// @throws Rejection.NotFound if there is no such task or message
  /// @throws Rejection.Conflict `busy` if a task has not ended; `already-rewound` if the task or
  ///     message was rewound
  /// @throws Rejection.Invalid if the position is not in the context, or is inside a task
  public AppendedRewind rewind(
      ContextId context,
      RewindDestination rewindDestination,
      AppendGuard appendGuard,
      String principal) {
    for (var attempt = 1; ; attempt++) {
      var rewindPlan = plan(context, rewindDestination);
      try {
        var appendResult =
            log.append(
                context,
                appendGuard,
                state -> List.of(EventDraft.of(rewindPlan.event(state).by(principal))));
        // Read back, so that a repeated request returns the original answer.
        var first = appendResult.first();
        var entry = log.read(context, new Position(first.seq() - 1, Integer.MAX_VALUE), 1);
        var rewound = (ContextRewound) entry.getFirst().event();
        return new AppendedRewind(context, first.seq(), rewound.toSeq());
      } catch (Rejection.Stale movedOn) {
        if (attempt == ATTEMPTS_MAX) {
          throw movedOn;
        }
      }
    }
  }

  /// Computes the event that a rewind would append. Rejects nothing yet, as the same request may
  /// have succeeded before under its idempotency key.
  public RewindPlan plan(ContextId context, RewindDestination rewindDestination) {
    var head = log.head(context);
    try {
      var toSeq = place(context, head, rewindDestination);
      var inside = views.openTaskAt(context, toSeq);
      if (inside.isPresent()) {
        throw new Rejection.Invalid(
            "inside-task",
            "task %s had not ended at %d; rewind to before it".formatted(inside.get(), toSeq));
      }
      return new RewindPlan(head, event(context, rewindDestination, toSeq), null);
    } catch (Rejection.NotFound | Rejection.Invalid | Rejection.Conflict refusal) {
      return new RewindPlan(head, null, refusal);
    }
  }

  private ContextRewound event(ContextId context, RewindDestination rewindDestination, long toSeq) {
    var rewindEffect = views.rewindEffect(context, toSeq);
    return new ContextRewound(
        toSeq,
        rewindDestination instanceof RewindDestination.BeforeTask(var task) ? task : null,
        rewindDestination instanceof RewindDestination.BeforeMessage(var message) ? message : null,
        unlessEmpty(rewindEffect.state()),
        unlessEmpty(rewindEffect.artifacts()));
  }

  private static @Nullable ObjectNode unlessEmpty(ObjectNode delta) {
    return delta.isEmpty() ? null : delta;
  }

  private long place(ContextId context, Position head, RewindDestination rewindDestination) {
    return switch (rewindDestination) {
      case RewindDestination.BeforeTask(var task) ->
          before(views.turnPosition(context, task), "task " + task);
      case RewindDestination.BeforeMessage(var message) ->
          before(views.turnPosition(context, message), "message " + message);
      case RewindDestination.ToSeq(var seq) -> {
        if (seq < 1 || seq > head.seq()) {
          throw new Rejection.Invalid(
              "invalid-seq", "toSeq must be between 1 and " + head.seq() + ", the last event");
        }
        yield seq;
      }
    };
  }

  private static long before(Optional<TurnPosition> found, String what) {
    var turnPosition = found.orElseThrow(() -> new Rejection.NotFound("no such " + what));
    if (turnPosition.rewound()) {
      throw new Rejection.Conflict("already-rewound", what + " was already rewound");
    }
    if (!turnPosition.root()) {
      throw new Rejection.Invalid("subtask", what + " belongs to a subtask; name its root task");
    }
    return turnPosition.seq() - 1;
  }

  /// A fork to create; at the last event if `atSeq` is missing.
  public record ContextFork(
      ContextId contextId, @Nullable Long atSeq, String owner, @Nullable String title) {}

  /// Forks a context. False if the fork's id is taken; then nothing changes.
  ///
  /// Tasks that were running at that position end as canceled in the fork, and continue in the
  /// source. Messages that were edited or deleted in the source since then, and tasks that were
  /// removed, are also edited, deleted and removed in the fork.
  public boolean fork(ContextId source, ContextFork wanted) {
    var atSeq = wanted.atSeq() == null ? log.head(source).seq() : wanted.atSeq();
    return log.fork(
        wanted.contextId(),
        new ContextForked(source, atSeq, wanted.owner(), wanted.title(), wanted.owner()),
        views.correctionsAfter(source, atSeq));
  }
}
