package dev.parley.door.a2a.sessions;

import dev.parley.a2a.A2aException;
import dev.parley.a2a.Version;
import dev.parley.a2a.WireForms;
import dev.parley.a2a.WireTask;
import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.door.a2a.SessionTasks;
import dev.parley.door.a2a.Stored;
import dev.parley.door.a2a.TaskForm;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Routes that list and show tasks, and that store and delete external tasks.
final class TaskRoutes {

  private static final String ONE = "/api/tasks/{t}";
  private static final List<Parameter> WHO = List.of(Callers.USER, Callers.USER_HEADER);

  private final DoorParts parts;
  private final Forms forms;
  private final Callers callers;
  private final Stored stored;
  private final TaskStore store;

  /// The readers for a single task, the tasks of a session, and the tasks of sub-agents.
  record Forms(TaskForm one, SessionTasks all, SubSessions below) {}

  TaskRoutes(DoorParts parts, Forms forms, Callers callers) {
    this.parts = parts;
    this.forms = forms;
    this.callers = callers;
    this.stored = new Stored(parts.views());
    this.store = new TaskStore(parts);
  }

  List<Route> routes() {
    return List.of(
        Route.get(
            SessionRoutes.ONE + "/tasks",
            "Lists the tasks of a session, oldest first",
            Answer.other(SessionsDoor.JSON),
            WHO,
            this::list),
        Route.get(ONE, "Shows a task", Answer.other(SessionsDoor.JSON), WHO, this::show),
        SessionsDoor.act(
            Route.Method.POST, "/api/tasks", "Stores a task in the A2A format", this::save),
        new Route(
            Route.Method.DELETE,
            ONE,
            new Route.Description("Removes a task from all lists", WHO, null, Answer.empty()),
            this::delete));
  }

  private static Version version(Request request) {
    return Version.named(request.header(Version.HEADER).orElse(null))
        .orElseThrow(() -> new Rejection.Invalid(Version.HEADER + " must be 0.3 or 1.0"));
  }

  private static ObjectNode json(Request request, WireTask task) {
    return WireForms.of(version(request)).task(task);
  }

  private Reply list(Request request) {
    var child = forms.below().find(request, callers);
    var found =
        child.isPresent()
            ? List.of(forms.below().task(child.get(), version(request)))
            : forms.all().list(callers.readable(request).context().contextId(), version(request));
    return Envelope.of(
        200,
        found.stream().map(task -> json(request, task)).toList(),
        "Successfully retrieved session tasks");
  }

  private Reply show(Request request) {
    var id = request.path("t");
    var task = Id.valid(id) ? find(request, new TaskId(id)) : Optional.<WireTask>empty();
    return Envelope.of(
        200, json(request, task.orElseThrow(() -> unknown(id))), "Successfully retrieved task");
  }

  /// The task, if it is current and the caller may see it.
  private Optional<WireTask> find(Request request, TaskId id) {
    try {
      var context = store.contextOf(id);
      if (context.isPresent()) {
        callers.readable(request, context.get());
        var root = parts.views().task(context.get(), id).filter(t -> t.parentTaskId() == null);
        return root.isPresent()
            ? root.map(task -> forms.one().snapshot(task, version(request), null, true))
            : stored.find(context.get(), id);
      }
      var session = callers.readable(request, new ContextId(id.value())).context();
      return forms.all().kept(version(request), session.contextId());
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      return Optional.empty();
    }
  }

  private Reply save(Request request) {
    var body = request.body(ObjectNode.class);
    try {
      var task = store.read(body);
      var context = new ContextId(task.contextId());
      store.begin(request.principal(), Callers.user(request).orElse(null), task);
      // Check after the session exists: before, another request could still create it.
      checkWritable(request, context);
      store.save(task, request.principal());
      var saved = find(request, new TaskId(task.id())).orElse(task);
      return Envelope.of(201, json(request, saved), "Task created successfully");
    } catch (A2aException malformed) {
      throw new Rejection.Invalid(String.valueOf(malformed.getMessage()));
    }
  }

  /// Rejects writing to a session of another user.
  private void checkWritable(Request request, ContextId context) {
    try {
      callers.session(request, context);
    } catch (Rejection.NotFound another) {
      throw new Rejection.Conflict("task-exists", "the session belongs to another user");
    }
  }

  private Reply delete(Request request) {
    var id = request.path("t");
    var context = Id.valid(id) ? store.contextOf(new TaskId(id)) : Optional.<ContextId>empty();
    if (context.isEmpty() || find(request, new TaskId(id)).isEmpty()) {
      throw unknown(id);
    }
    // Read-only access is not enough.
    callers.session(request, context.get());
    store.delete(context.get(), new TaskId(id), request.principal());
    return new Reply.Empty(204);
  }

  private static Rejection unknown(String id) {
    return new Rejection.NotFound("no such task: " + (Id.valid(id) ? id : "its id is not valid"));
  }
}
