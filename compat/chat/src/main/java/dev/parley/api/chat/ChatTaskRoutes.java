package dev.parley.api.chat;

import dev.parley.api.ApiDependencies;
import dev.parley.api.chat.AgentEvent.ListedAgentEvent;
import dev.parley.api.chat.ChatTaskResults.AgentResult;
import dev.parley.api.chat.ChatTaskResults.AgentTask;
import dev.parley.api.chat.ConversationRoutes.ChatSuccess;
import dev.parley.http.Parameter;
import dev.parley.http.Reply;
import dev.parley.http.Request;
import dev.parley.http.ResponseDescription;
import dev.parley.http.Route;
import dev.parley.projection.TurnPosition;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Routes for tasks: list, show, list events, cancel.
final class ChatTaskRoutes {

  private static final String ONE = "/chat/tasks/{t}";
  private static final String CANCELLED = "Task cancellation requested";
  private static final int READ = 64;

  /// How many entries one request reads.
  private static final int SCAN_MAX = 10_000;

  private final ApiDependencies parts;
  private final ChatTaskResults results;
  private final AgentEventMapper events;

  ChatTaskRoutes(ApiDependencies parts, ChatTaskResults results, AgentEventMapper events) {
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
  record TaskEvents(
      boolean success, List<ListedAgentEvent> events, Position nextAfter, boolean hasMore) {}

  List<Route> routes() {
    return List.of(
        Route.get(
            ConversationRoutes.ONE + "/tasks",
            "Lists tasks, oldest first",
            ResponseDescription.one(AgentTasks.class),
            List.of(Parameter.LIMIT, Parameter.CURSOR),
            this::list),
        Route.get(
            ONE, "Shows a task and its result", ResponseDescription.one(OneTask.class), this::show),
        Route.get(
            ONE + "/events",
            "Lists the events of a task, oldest first",
            ResponseDescription.one(TaskEvents.class),
            List.of(Parameter.LIMIT, Parameter.query("after", "only events after this nextAfter")),
            this::events),
        Route.withoutBody(
            Route.Method.DELETE,
            ONE,
            "Requests cancellation of a task and its descendants",
            ResponseDescription.one(ChatSuccess.class),
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
    return new Reply.Json(200, new ChatSuccess(true, CANCELLED));
  }

  private Reply events(Request request) {
    var id = new TaskId(request.path("t"));
    var context = context(request, id);
    var begun = parts.views().turnPosition(context, id).map(TurnPosition::seq).orElse(1L);
    var position =
        request.query("after").map(Position::parse).orElse(Position.of(Math.max(0, begun - 1)));
    var head = parts.log().head(context);
    if (position.after(head)) {
      throw new Rejection.Invalid(
          "cursor-ahead", position + " is ahead of the last event, which is at " + head);
    }
    var limit = request.limit();
    var found = new ArrayList<ListedAgentEvent>();
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
      parts.access().check(request, context);
    } catch (Rejection.NotFound | Rejection.Gone notTheirs) {
      throw unknown(id);
    }
    return context;
  }

  private static Rejection unknown(TaskId id) {
    return new Rejection.NotFound("no such task: " + id);
  }
}
