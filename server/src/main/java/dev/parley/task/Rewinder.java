package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.Place;
import dev.parley.view.Views;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Takes contexts back to an earlier place, and forks them.
///
/// Nothing is erased: a rewind is one more event, with what it does to the state and the artifacts. It
/// may go back to any place where no task was at work, also to one that an earlier rewind had left.
public final class Rewinder {

  private static final int ATTEMPTS_MAX = 10;

  private final EventLog log;
  private final Views views;

  public Rewinder(EventLog log, Views views) {
    this.log = log;
    this.views = views;
  }

  /// Where to go back to.
  public sealed interface Target {

    /// To before the turn of a root task, and so before the message that asked for it.
    record BeforeTask(TaskId task) implements Target {}

    /// To before a message.
    record BeforeMessage(MessageId message) implements Target {}

    /// To right after this event.
    record ToSeq(long seq) implements Target {}
  }

  /// A rewind that is in the log, at `seq`.
  public record Rewound(ContextId contextId, long seq, long toSeq) {}

  /// What a rewind would append to a context that has come to `head`, or why it cannot be.
  public record Plan(Position head, @Nullable ContextRewound event, @Nullable Rejection refusal) {

    /// The event, if it may be appended now. To be called by a decision.
    ///
    /// @throws Rejection.Conflict `busy` if a task has not ended
    /// @throws Rejection.Stale if something happened since the plan was made: make another
    public ContextRewound event(ContextState state) {
      var current = state.head().equals(head);
      if (current && refusal != null) {
        throw refusal;
      }
      if (!state.openTasks().isEmpty()) {
        throw new Rejection.Conflict("busy", "a task of this context has not ended");
      }
      if (!current || event == null) {
        throw new Rejection.Stale("the context has moved on from " + head);
      }
      return event;
    }
  }

  /// Appends a rewind.
  ///
  /// @throws Rejection.NotFound if there is no such task or message
  /// @throws Rejection.Conflict `busy` if a task has not ended; `already-rewound` if the task or message
  ///     no longer counts
  /// @throws Rejection.Invalid if the place is not in the context, or in the middle of a task
  public Rewound rewind(ContextId context, Target target, Guard guard, String principal) {
    for (var attempt = 1; ; attempt++) {
      var plan = plan(context, target);
      try {
        var appended =
            log.append(context, guard, state -> List.of(Draft.of(plan.event(state).by(principal))));
        // Read back, so that one that is sent again gets the answer it got first.
        var first = appended.first();
        var entry = log.read(context, new Position(first.seq() - 1, Integer.MAX_VALUE), 1);
        var rewound = (ContextRewound) entry.getFirst().event();
        return new Rewound(context, first.seq(), rewound.toSeq());
      } catch (Rejection.Stale movedOn) {
        if (attempt == ATTEMPTS_MAX) {
          throw movedOn;
        }
      }
    }
  }

  /// Works out what a rewind would append. Refuses nothing yet, as the same request may have succeeded
  /// before under its key.
  public Plan plan(ContextId context, Target target) {
    var head = log.head(context);
    try {
      var toSeq = place(context, head, target);
      var inside = views.openAt(context, toSeq);
      if (inside.isPresent()) {
        throw new Rejection.Invalid(
            "inside-task",
            "task %s had not ended at %d; go back to before it".formatted(inside.get(), toSeq));
      }
      return new Plan(head, event(context, target, toSeq), null);
    } catch (Rejection.NotFound | Rejection.Invalid | Rejection.Conflict refusal) {
      return new Plan(head, null, refusal);
    }
  }

  private ContextRewound event(ContextId context, Target target, long toSeq) {
    var undo = views.undo(context, toSeq);
    return new ContextRewound(
        toSeq,
        target instanceof Target.BeforeTask(var task) ? task : null,
        target instanceof Target.BeforeMessage(var message) ? message : null,
        unlessEmpty(undo.state()),
        unlessEmpty(undo.artifacts()));
  }

  private static @Nullable ObjectNode unlessEmpty(ObjectNode delta) {
    return delta.isEmpty() ? null : delta;
  }

  private long place(ContextId context, Position head, Target target) {
    return switch (target) {
      case Target.BeforeTask(var task) -> before(views.place(context, task), "task " + task);
      case Target.BeforeMessage(var message) ->
          before(views.place(context, message), "message " + message);
      case Target.ToSeq(var seq) -> {
        if (seq < 1 || seq > head.seq()) {
          throw new Rejection.Invalid(
              "invalid-seq", "toSeq is between 1 and " + head.seq() + ", the last event");
        }
        yield seq;
      }
    };
  }

  private static long before(Optional<Place> found, String what) {
    var place = found.orElseThrow(() -> new Rejection.NotFound("no such " + what));
    if (place.rewound()) {
      throw new Rejection.Conflict("already-rewound", what + " was taken back already");
    }
    if (!place.root()) {
      throw new Rejection.Invalid("subtask", what + " is part of another; name its root task");
    }
    return place.seq() - 1;
  }

  /// A fork that is wanted: at the last event if `atSeq` is missing.
  public record NewFork(
      ContextId contextId, @Nullable Long atSeq, String owner, @Nullable String title) {}

  /// Forks a context. False if the fork's id is taken, and then changes nothing.
  ///
  /// Tasks that were at work there end as canceled in the fork, and go on in the source. Messages that people edited or
  /// deleted in the source since, and tasks that they removed, are edited, deleted and removed in the fork as well.
  public boolean fork(ContextId source, NewFork wanted) {
    var atSeq = wanted.atSeq() == null ? log.head(source).seq() : wanted.atSeq();
    return log.fork(
        wanted.contextId(),
        new ContextForked(source, atSeq, wanted.owner(), wanted.title(), wanted.owner()),
        views.correctionsAfter(source, atSeq));
  }
}
