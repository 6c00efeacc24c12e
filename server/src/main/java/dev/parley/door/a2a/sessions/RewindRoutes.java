package dev.parley.door.a2a.sessions;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireForms;
import dev.parley.door.DoorParts;
import dev.parley.door.NewContextId;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.door.a2a.RewindTargets;
import dev.parley.door.a2a.SessionTasks;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.task.Rewinder;
import dev.parley.view.ContextView;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Routes that rewind and fork sessions.
final class RewindRoutes {

  private static final int NAME_MAX = 500;

  private final DoorParts parts;
  private final Callers callers;
  private final SessionTasks tasks;
  private final RewindTargets targets;
  private final Rewinder rewinder;

  RewindRoutes(DoorParts parts, Callers callers, SessionTasks tasks) {
    this.parts = parts;
    this.callers = callers;
    this.tasks = tasks;
    this.targets = new RewindTargets(parts.views(), parts.tasks());
    this.rewinder = new Rewinder(parts.log(), parts.views());
  }

  /// The turn before which to rewind, and whether to cancel running tasks.
  record SessionRewind(String rewind_before_invocation_id, @Nullable Boolean cancel) {}

  /// The turn before which to fork. Without one, the fork has all turns.
  record SessionFork(
      @Nullable String rewind_before_invocation_id,
      @Nullable ContextId id,
      @Nullable String name) {}

  List<Route> routes() {
    return List.of(
        SessionsDoor.send(
            Route.Method.POST,
            SessionRoutes.ONE + "/rewind",
            "Rewinds a session to before a turn; nothing is erased",
            SessionRewind.class,
            this::rewind),
        SessionsDoor.send(
            Route.Method.POST,
            SessionRoutes.ONE + "/fork",
            "Creates a session that shares this session's history up to a turn",
            SessionFork.class,
            this::fork));
  }

  private Reply rewind(Request request) {
    var context = callers.session(request).contextId();
    var wanted = request.body(SessionRewind.class);
    var cancel = Boolean.TRUE.equals(wanted.cancel());
    try {
      var target =
          targets.find(context, wanted.rewind_before_invocation_id(), cancel, request.principal());
      rewinder.rewind(context, target, request.once(), request.principal());
    } catch (Rejection.Conflict busy) {
      if (busy.code().equals("busy")) {
        throw new Rejection.Conflict(
            "busy",
            "a task of this session is running; cancel it first, or send \"cancel\": true with the"
                + " rewind");
      }
      throw busy;
    }
    var task = tasks.kept(Version.V0_3, context).orElseThrow();
    return Envelope.of(200, WireForms.V0_3.task(task), "Rewound");
  }

  private Reply fork(Request request) {
    var source = callers.session(request);
    var wanted = request.body(SessionFork.class);
    var before = wanted.rewind_before_invocation_id();
    var atSeq = before == null ? null : Long.valueOf(place(request, source.contextId(), before));
    var id = wanted.id() != null ? wanted.id() : NewContextId.of(request, parts.ids());
    var fork = new Rewinder.NewFork(id, atSeq, request.principal(), name(source, wanted.name()));
    if (!rewinder.fork(source.contextId(), fork)) {
      throw new Rejection.Conflict("context-exists", "a session with this id exists: " + id);
    }
    var session = Session.of(parts.views().listing().find(parts.views().context(id)));
    return Envelope.of(201, session, "Forked");
  }

  /// The seq of the last event before the turn.
  private long place(Request request, ContextId context, String invocation) {
    var target = targets.find(context, invocation, false, request.principal());
    var plan = rewinder.plan(context, target);
    var event = plan.event();
    if (event == null) {
      throw plan.refusal() == null
          ? new Rejection.Invalid("the session cannot be forked before this turn")
          : plan.refusal();
    }
    return event.toSeq();
  }

  private static String name(ContextView source, @Nullable String wanted) {
    if (wanted != null) {
      SessionRoutes.checkName(wanted);
      return wanted;
    }
    var title = source.title();
    var name = "Fork of " + (title == null ? source.contextId().value() : title);
    return name.length() <= NAME_MAX ? name : name.substring(0, NAME_MAX);
  }
}
