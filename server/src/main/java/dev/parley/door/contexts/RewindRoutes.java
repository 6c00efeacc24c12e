package dev.parley.door.contexts;

import dev.parley.door.Answer;
import dev.parley.door.Descriptions;
import dev.parley.door.DoorParts;
import dev.parley.door.NewContextId;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.Rewinder;
import dev.parley.task.Rewinder.NewFork;
import dev.parley.task.Rewinder.Rewound;
import dev.parley.task.Rewinder.Target;
import dev.parley.view.ContextView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Routes that rewind a context, or fork it at a position.
final class RewindRoutes {

  private static final String ONE = "/api/contexts/{c}";
  private static final Parameter KEY =
      Parameter.header("Idempotency-Key", "makes it safe to repeat the request");

  private final DoorParts parts;
  private final Rewinder rewinder;

  RewindRoutes(DoorParts parts, Rewinder rewinder) {
    this.parts = parts;
    this.rewinder = rewinder;
  }

  /// A request to rewind, to one of three targets, with an optional message to send there.
  record Rewind(
      @Nullable TaskId beforeTaskId,
      @Nullable MessageId beforeMessageId,
      @Nullable Long toSeq,
      MessageRoutes.@Nullable NewMessage message) {}

  /// A request to fork.
  record Fork(@Nullable Long atSeq, @Nullable ContextId contextId, @Nullable String title) {}

  List<Route> routes() {
    return List.of(
        Route.send(
            Route.Method.POST,
            ONE + "/rewind",
            new Route.Description(
                "Rewinds to before a task or message, or to a seq; erases nothing",
                List.of(KEY),
                Rewind.class,
                Answer.one(Rewound.class)),
            this::rewind),
        Route.send(
            Route.Method.POST,
            ONE + "/fork",
            new Route.Description(
                "Creates a context that shares the past of this one, all or up to a seq",
                List.of(KEY),
                Fork.class,
                Answer.one(201, ContextView.class)),
            this::fork));
  }

  private Reply rewind(Request request) {
    var context = parts.access().context(request);
    var wanted = request.body(Rewind.class);
    var target = target(wanted);
    if (wanted.message() != null) {
      var submission = MessageRoutes.submission(request, context, wanted.message());
      return new Reply.Json(
          202, parts.tasks().submit(submission, () -> rewinder.plan(context, target)));
    }
    return new Reply.Json(
        200, rewinder.rewind(context, target, request.once(), request.principal()));
  }

  private static Target target(Rewind wanted) {
    var targets = new ArrayList<Target>();
    if (wanted.beforeTaskId() != null) {
      targets.add(new Target.BeforeTask(wanted.beforeTaskId()));
    }
    if (wanted.beforeMessageId() != null) {
      targets.add(new Target.BeforeMessage(wanted.beforeMessageId()));
    }
    if (wanted.toSeq() != null) {
      targets.add(new Target.ToSeq(wanted.toSeq()));
    }
    if (targets.size() != 1) {
      throw new Rejection.Invalid(
          "exactly one of beforeTaskId, beforeMessageId and toSeq is required");
    }
    return targets.getFirst();
  }

  private Reply fork(Request request) {
    var source = parts.access().context(request);
    var wanted = request.body(Fork.class);
    Descriptions.checkTitle(wanted.title());
    var fork =
        wanted.contextId() != null ? wanted.contextId() : NewContextId.of(request, parts.ids());
    var made = new NewFork(fork, wanted.atSeq(), request.principal(), wanted.title());
    if (!rewinder.fork(source, made) && !again(request, source, made)) {
      throw wanted.contextId() == null
          ? new Rejection.Conflict("idempotency-key-reused", "the key was used with another body")
          : new Rejection.Conflict("context-exists", "the context exists: " + fork);
    }
    return new Reply.Json(
        201, parts.views().context(fork), Map.of("Location", "/api/contexts/" + fork));
  }

  /// True if the same request created the existing fork before.
  private boolean again(Request request, ContextId source, NewFork wanted) {
    if (request.idempotencyKey().isEmpty()) {
      return false;
    }
    parts.access().check(request.principal(), wanted.contextId());
    var from = parts.views().context(wanted.contextId()).forkedFrom();
    return from != null
        && from.contextId().equals(source)
        && (wanted.atSeq() == null || wanted.atSeq() == from.atSeq());
  }
}
