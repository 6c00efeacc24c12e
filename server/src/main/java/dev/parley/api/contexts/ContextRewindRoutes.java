package dev.parley.api.contexts;

import dev.parley.api.ApiDependencies;
import dev.parley.api.ContextEditor;
import dev.parley.api.ContextIdGenerator;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.identity.Action;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.Rewinder;
import dev.parley.task.Rewinder.AppendedRewind;
import dev.parley.task.Rewinder.ContextFork;
import dev.parley.task.Rewinder.RewindDestination;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Routes that rewind a context, or fork it at a position.
final class ContextRewindRoutes {

  private static final String ONE = "/api/contexts/{c}";
  private static final Parameter KEY =
      Parameter.header("Idempotency-Key", "makes it safe to repeat the request");

  private final ApiDependencies parts;
  private final Rewinder rewinder;

  ContextRewindRoutes(ApiDependencies parts, Rewinder rewinder) {
    this.parts = parts;
    this.rewinder = rewinder;
  }

  /// A request to rewind, to one of three targets, with an optional message to send there.
  record RewindRequest(
      @Nullable TaskId beforeTaskId,
      @Nullable MessageId beforeMessageId,
      @Nullable Long toSeq,
      ContextMessageRoutes.@Nullable NewMessage message) {}

  /// A request to fork.
  record ForkRequest(@Nullable Long atSeq, @Nullable ContextId contextId, @Nullable String title) {}

  List<Route> routes() {
    return List.of(
        Route.withBody(
            Route.Method.POST,
            ONE + "/rewind",
            new Route.RouteDescription(
                "Rewinds to before a task or message, or to a seq; erases nothing",
                List.of(KEY),
                RewindRequest.class,
                ResponseDescription.one(AppendedRewind.class)),
            this::rewind),
        Route.withBody(
            Route.Method.POST,
            ONE + "/fork",
            new Route.RouteDescription(
                "Creates a context that shares the past of this one, all or up to a seq",
                List.of(KEY),
                ForkRequest.class,
                ResponseDescription.one(201, ContextView.class)),
            this::fork));
  }

  private Reply rewind(Request request) {
    var context = parts.access().context(request);
    var wanted = request.body(RewindRequest.class);
    var rewindDestination = target(wanted);
    if (wanted.message() != null) {
      var submission = ContextMessageRoutes.submission(request, context, wanted.message());
      parts.access().checkAgent(request.caller(), submission);
      return new Reply.Json(
          202, parts.tasks().submit(submission, () -> rewinder.plan(context, rewindDestination)));
    }
    return new Reply.Json(
        200,
        rewinder.rewind(
            context, rewindDestination, request.idempotencyGuard(), request.principal()));
  }

  private static RewindDestination target(RewindRequest wanted) {
    var targets = new ArrayList<RewindDestination>();
    if (wanted.beforeTaskId() != null) {
      targets.add(new RewindDestination.BeforeTask(wanted.beforeTaskId()));
    }
    if (wanted.beforeMessageId() != null) {
      targets.add(new RewindDestination.BeforeMessage(wanted.beforeMessageId()));
    }
    if (wanted.toSeq() != null) {
      targets.add(new RewindDestination.ToSeq(wanted.toSeq()));
    }
    if (targets.size() != 1) {
      throw new Rejection.Invalid(
          "exactly one of beforeTaskId, beforeMessageId and toSeq is required");
    }
    return targets.getFirst();
  }

  private Reply fork(Request request) {
    var source = request.context();
    // A fork does not change its source.
    parts.access().check(request.caller(), Action.READ, source);
    var wanted = request.body(ForkRequest.class);
    ContextEditor.checkTitle(wanted.title());
    var fork =
        wanted.contextId() != null
            ? wanted.contextId()
            : ContextIdGenerator.of(request, parts.ids());
    parts.access().checkNew(request.caller(), fork);
    var made = new ContextFork(fork, wanted.atSeq(), request.principal(), wanted.title());
    if (!rewinder.fork(source, made) && !isRepeatedRequest(request, source, made)) {
      throw wanted.contextId() == null
          ? new Rejection.Conflict("idempotency-key-reused", "the key was used with another body")
          : new Rejection.Conflict("context-exists", "the context exists: " + fork);
    }
    return new Reply.Json(
        201, parts.views().context(fork), Map.of("Location", "/api/contexts/" + fork));
  }

  /// True if the same request created the existing fork before.
  private boolean isRepeatedRequest(Request request, ContextId source, ContextFork wanted) {
    parts.access().check(request, wanted.contextId());
    if (request.idempotencyKey().isEmpty()) {
      return false;
    }
    var from = parts.views().context(wanted.contextId()).forkedFrom();
    return from != null
        && from.contextId().equals(source)
        && (wanted.atSeq() == null || wanted.atSeq() == from.atSeq());
  }
}
