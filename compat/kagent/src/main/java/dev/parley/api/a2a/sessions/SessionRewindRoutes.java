package dev.parley.api.a2a.sessions;

import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextIdGenerator;
import dev.parley.api.a2a.RewindTargets;
import dev.parley.api.a2a.SessionTasks;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.Route;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Rejection;
import dev.parley.task.Rewinder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Routes that rewind and fork sessions.
final class SessionRewindRoutes {

  private static final int NAME_MAX = 500;

  private final ApiDependencies parts;
  private final SessionAccess sessionAccess;
  private final SessionTasks tasks;
  private final RewindTargets targets;
  private final Rewinder rewinder;

  SessionRewindRoutes(ApiDependencies parts, SessionAccess sessionAccess, SessionTasks tasks) {
    this.parts = parts;
    this.sessionAccess = sessionAccess;
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
        SessionEnvelope.route(
            Route.Method.POST,
            SessionRoutes.ONE + "/rewind",
            "Rewinds a session to before a turn; nothing is erased",
            SessionRewind.class,
            this::rewind),
        SessionEnvelope.route(
            Route.Method.POST,
            SessionRoutes.ONE + "/fork",
            "Creates a session that shares this session's history up to a turn",
            SessionFork.class,
            this::fork));
  }

  private Reply rewind(Request request) {
    var context = sessionAccess.session(request).contextId();
    var wanted = request.body(SessionRewind.class);
    var cancel = Boolean.TRUE.equals(wanted.cancel());
    try {
      var rewindDestination =
          targets.find(context, wanted.rewind_before_invocation_id(), cancel, request.principal());
      rewinder.rewind(context, rewindDestination, request.idempotencyGuard(), request.principal());
    } catch (Rejection.Conflict busy) {
      if (busy.code().equals("busy")) {
        throw new Rejection.Conflict(
            "busy",
            "a task of this session is running; cancel it first, or send \"cancel\": true with the"
                + " rewind");
      }
      throw busy;
    }
    var task = tasks.retainedTask(A2aVersion.V0_3, context).orElseThrow();
    return SessionEnvelope.of(200, A2aEncoders.V0_3.task(task), "Rewound");
  }

  private Reply fork(Request request) {
    var source = sessionAccess.session(request);
    var wanted = request.body(SessionFork.class);
    var before = wanted.rewind_before_invocation_id();
    var atSeq =
        before == null ? null : Long.valueOf(seqBefore(request, source.contextId(), before));
    var id = wanted.id() != null ? wanted.id() : ContextIdGenerator.of(request, parts.ids());
    parts.access().checkNew(request.caller(), id);
    var fork =
        new Rewinder.ContextFork(id, atSeq, request.principal(), name(source, wanted.name()));
    if (!rewinder.fork(source.contextId(), fork)) {
      parts.access().check(request, id);
      throw new Rejection.Conflict("context-exists", "a session with this id exists: " + id);
    }
    var session = KagentSession.of(parts.views().contextList().find(parts.views().context(id)));
    return SessionEnvelope.of(201, session, "Forked");
  }

  /// The seq of the last event before the turn.
  private long seqBefore(Request request, ContextId context, String invocation) {
    var rewindDestination = targets.find(context, invocation, false, request.principal());
    var rewindPlan = rewinder.plan(context, rewindDestination);
    var event = rewindPlan.event();
    if (event == null) {
      throw rewindPlan.refusal() == null
          ? new Rejection.Invalid("the session cannot be forked before this turn")
          : rewindPlan.refusal();
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
