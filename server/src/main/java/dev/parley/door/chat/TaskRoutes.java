package dev.parley.door.chat;

import dev.parley.door.Answer;
import dev.parley.door.DoorParts;
import dev.parley.door.Paging;
import dev.parley.door.Parameter;
import dev.parley.door.Reply;
import dev.parley.door.Request;
import dev.parley.door.Route;
import dev.parley.door.chat.AgentEvent.Listed;
import dev.parley.door.chat.ConversationRoutes.Done;
import dev.parley.door.chat.Results.AgentResult;
import dev.parley.door.chat.Results.AgentTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.Place;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Routes for tasks: list, show, list events, cancel.
final class TaskRoutes {

  private static final String ONE = "/chat/tasks/{t}";
  private static final String CANCELLED = "Task cancellation requested";
  private static final int READ = 64;

  /// How many entries one request reads.
  private static final int SCAN_MAX = 10_000;

  private final DoorParts parts;
  private final Results results;
  private final AgentEvents events;

  TaskRoutes(DoorParts parts, Results results, AgentEvents events) {
    this.parts = parts;
    this.results = results;
    this.events = events;
  }

  /// A page of tasks, oldest first.
  record AgentTasks(
      boolean success, List<AgentTask> tasks, boolean hasMore, @Nullable String nextCursor) {}

  /// One task, and its result once it has ended. `superseded` is true if its message was rerun or
  /// rewound.
  record OneTask(
      boolean success,
      AgentTask task,
      @Nullable AgentResult result,
      @Nullable Boolean superseded) {}

  /// A page of a task's events. `nextAfter` is the next `after`.
  record TaskEvents(boolean success, List<Listed> events, Position nextAfter, boolean hasMore) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            ConversationRoutes.ONE + "/tasks",
            "Lists tasks, oldest first",
            Answer.one(AgentTasks.class),
            List.of(Paging.LIMIT, Paging.CURSOR),
            this::list),
        Route.get(ONE, "Shows a task and its result", Answer.one(OneTask.class), this::show),
        Route.get(
            ONE + "/events",
            "Lists the events of a task, oldest first",
            Answer.one(TaskEvents.class),
            List.of(Paging.LIMIT, Parameter.query("after", "only events after this nextAfter")),
            this::events),
        Route.act(
            Route.Method.DELETE,
            ONE,
            "Requests cancellation of a task and its descendants",
            Answer.one(Done.class),
            this::cancel));
  }

  private Reply list(Request request) {
    var context = parts.access().context(request);
    var cursor = request.query("cursor").orElse(null);
    var page = parts.views().tasks(context, cursor, request.limit());
    var tasks = page.items().stream().map(results::task).toList();
    var next = page.nextCursor();
    return new Reply.Json(200, new AgentTasks(true, tasks, next != null, next));
  }

  private Reply show(Request request) {
    var id = new TaskId(request.path("t"));
    var context = context(request, id);
    var counts = parts.views().task(context, id);
    var view =
        counts.or(() -> parts.views().rewoundTask(context, id)).orElseThrow(() -> unknown(id));
    var task = results.task(view);
    var superseded = counts.isPresent() ? null : Boolean.TRUE;
    return new Reply.Json(200, new OneTask(true, task, task.result(), superseded));
  }

  private Reply cancel(Request request) {
    var id = new TaskId(request.path("t"));
    parts.tasks().cancel(context(request, id), id, request.principal(), null);
    return new Reply.Json(200, new Done(true, CANCELLED));
  }

  private Reply events(Request request) {
    var id = new TaskId(request.path("t"));
    var context = context(request, id);
    var begun = parts.views().place(context, id).map(Place::seq).orElse(1L);
    var position =
        request.query("after").map(Position::parse).orElse(Position.of(Math.max(0, begun - 1)));
    var head = parts.log().head(context);
    if (position.after(head)) {
      throw new Rejection.Invalid(
          "cursor-ahead", position + " is ahead of the last event, which is at " + head);
    }
    var limit = request.limit();
    var found = new ArrayList<Listed>();
    var scanned = 0;
    while (head.after(position) && found.size() < limit && scanned < SCAN_MAX) {
      for (var entry : parts.log().read(context, position, READ)) {
        if (found.size() == limit || entry.position().after(head)) {
          break;
        }
        position = entry.position();
        scanned++;
        if (id.equals(entry.taskId())) {
          events.of(entry).map(AgentEvent::listed).ifPresent(found::add);
        }
      }
    }
    return new Reply.Json(200, new TaskEvents(true, found, position, head.after(position)));
  }

  /// The task's conversation. Rejects a task that the caller may not see, as if it did not exist.
  private ContextId context(Request request, TaskId id) {
    var context = parts.views().contextOf(id).orElseThrow(() -> unknown(id));
    try {
      parts.access().check(request.principal(), context);
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw unknown(id);
    }
    return context;
  }

  private static Rejection unknown(TaskId id) {
    return new Rejection.NotFound("no such task: " + id);
  }
}
