package dev.parley.api.a2a.sessions;

import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.ApiDependencies;
import dev.parley.api.a2a.A2aTaskReader;
import dev.parley.api.a2a.ExternalTasks;
import dev.parley.api.a2a.SessionTasks;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Routes that list and show tasks, and that store and delete external tasks.
final class SessionTaskRoutes {

  private static final String ONE = "/api/tasks/{t}";
  private static final List<Parameter> USER_PARAMETERS =
      List.of(SessionAccess.USER, SessionAccess.USER_HEADER);

  private final ApiDependencies parts;
  private final SessionTaskReaders readers;
  private final SessionAccess sessionAccess;
  private final ExternalTasks externalTasks;
  private final ExternalTaskStore store;

  /// The readers for a single task, the tasks of a session, and the tasks of sub-agents.
  record SessionTaskReaders(
      A2aTaskReader single, SessionTasks ofSession, SubagentSessions ofSubagents) {}

  SessionTaskRoutes(
      ApiDependencies parts, SessionTaskReaders readers, SessionAccess sessionAccess) {
    this.parts = parts;
    this.readers = readers;
    this.sessionAccess = sessionAccess;
    this.externalTasks = new ExternalTasks(parts.views());
    this.store = new ExternalTaskStore(parts);
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            SessionRoutes.ONE + "/tasks",
            "Lists the tasks of a session, oldest first",
            SessionEnvelope.RESPONSE,
            USER_PARAMETERS,
            this::list),
        Route.get(ONE, "Shows a task", SessionEnvelope.RESPONSE, USER_PARAMETERS, this::show),
        SessionEnvelope.route(
            Route.Method.POST, "/api/tasks", "Stores a task in the A2A format", null, this::save),
        new Route(
            Route.Method.DELETE,
            ONE,
            new Route.RouteDescription(
                "Removes a task from all lists",
                USER_PARAMETERS,
                null,
                ResponseDescription.empty()),
            this::delete));
  }

  private static A2aVersion version(Request request) {
    return A2aVersion.parse(request.header(A2aVersion.HEADER).orElse(null))
        .orElseThrow(() -> new Rejection.Invalid(A2aVersion.HEADER + " must be 0.3 or 1.0"));
  }

  private static ObjectNode json(Request request, A2aTask task) {
    return A2aEncoders.of(version(request)).task(task);
  }

  private Reply list(Request request) {
    var child = readers.ofSubagents().find(request, sessionAccess);
    var found =
        child.isPresent()
            ? List.of(readers.ofSubagents().task(child.get(), version(request)))
            : readers
                .ofSession()
                .list(sessionAccess.readable(request).context().contextId(), version(request));
    return SessionEnvelope.of(
        200,
        found.stream().map(task -> json(request, task)).toList(),
        "Successfully retrieved session tasks");
  }

  private Reply show(Request request) {
    var id = request.path("t");
    var task = Id.valid(id) ? find(request, new TaskId(id)) : Optional.<A2aTask>empty();
    return SessionEnvelope.of(
        200, json(request, task.orElseThrow(() -> notFound(id))), "Successfully retrieved task");
  }

  /// The task, if it is current and the caller may see it.
  private Optional<A2aTask> find(Request request, TaskId id) {
    try {
      var context = store.contextOf(id);
      if (context.isPresent()) {
        sessionAccess.readable(request, context.get());
        var root = parts.views().task(context.get(), id).filter(t -> t.parentTaskId() == null);
        return root.isPresent()
            ? root.map(task -> readers.single().snapshot(task, version(request), null, true))
            : externalTasks.find(context.get(), id);
      }
      var session = sessionAccess.readable(request, new ContextId(id.value())).context();
      return readers.ofSession().retainedTask(version(request), session.contextId());
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      return Optional.empty();
    }
  }

  private Reply save(Request request) {
    var body = request.body(ObjectNode.class);
    try {
      var task = store.read(body);
      var context = new ContextId(task.contextId());
      store.createSession(request.caller(), SessionAccess.user(request).orElse(null), task);
      // Check after the session exists: before, another request could still create it.
      checkWritable(request, context);
      store.save(task, request.principal());
      var saved = find(request, new TaskId(task.id())).orElse(task);
      return SessionEnvelope.of(201, json(request, saved), "Task created successfully");
    } catch (A2aException malformed) {
      throw new Rejection.Invalid(String.valueOf(malformed.getMessage()));
    }
  }

  /// Rejects writing to a session of another user.
  private void checkWritable(Request request, ContextId context) {
    try {
      sessionAccess.session(request, context);
    } catch (Rejection.NotFound another) {
      throw new Rejection.Conflict("task-exists", "the session belongs to another user");
    }
  }

  private Reply delete(Request request) {
    var id = request.path("t");
    var context = Id.valid(id) ? store.contextOf(new TaskId(id)) : Optional.<ContextId>empty();
    if (context.isEmpty() || find(request, new TaskId(id)).isEmpty()) {
      throw notFound(id);
    }
    // Read-only access is not enough.
    sessionAccess.session(request, context.get());
    store.delete(context.get(), new TaskId(id), request.principal());
    return new Reply.Empty(204);
  }

  private static Rejection notFound(String id) {
    return new Rejection.NotFound("no such task: " + (Id.valid(id) ? id : "its id is not valid"));
  }
}
