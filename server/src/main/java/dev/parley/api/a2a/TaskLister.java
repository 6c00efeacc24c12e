package dev.parley.api.a2a;

import dev.parley.a2a.A2aEncoder;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aJsonFields;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.api.ApiDependencies;
import dev.parley.projection.RootTaskFilter;
import dev.parley.projection.RootTaskQueries;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskView;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Lists tasks, a page at a time.
final class TaskLister {

  /// How many tasks are scanned for one page, if the requested state must be computed from events.
  private static final int SCAN_MAX = 1_000;

  private static final Set<TaskState> AT_WORK =
      EnumSet.of(
          TaskState.WORKING,
          TaskState.WAITING_INPUT,
          TaskState.WAITING_AUTH,
          TaskState.WAITING_SUBTASK);

  private final ApiDependencies parts;
  private final A2aTaskReader taskReader;

  TaskLister(ApiDependencies parts, A2aTaskReader form) {
    this.parts = parts;
    this.taskReader = form;
  }

  private record TaskPage(ResultPage<TaskView> page, long total) {}

  /// The answer to a request for tasks.
  ObjectNode list(A2aCaller caller, ListTasksRequest wanted, A2aEncoder written) {
    var filter =
        new RootTaskFilter(
            caller.agent(),
            parts.access().visible(caller.identity()),
            wanted.context(),
            states(wanted),
            wanted.changedSince(),
            caller.tenant());
    var taskPage = needsEvents(wanted) ? scan(caller, wanted, filter) : read(wanted, filter);
    var tasks = new ArrayList<A2aTask>();
    for (var task : taskPage.page().items()) {
      tasks.add(
          taskReader.snapshot(task, caller.version(), wanted.historyLength(), wanted.artifacts()));
    }
    tasks.sort(Comparator.comparing(TaskLister::changed, Comparator.reverseOrder()));
    var next = taskPage.page().nextCursor();
    var json = Json.object();
    var list = json.putArray("tasks");
    tasks.forEach(task -> list.add(written.task(task)));
    return json.put("nextPageToken", next == null ? "" : next)
        .put("pageSize", wanted.pageSize())
        .put("totalSize", taskPage.total());
  }

  private static long changed(A2aTask task) {
    return task.status().timestamp() == null ? 0 : task.status().timestamp().toEpochMilli();
  }

  /// True if the state depends on subtasks, or on the reason why a task ended.
  private static boolean needsEvents(ListTasksRequest wanted) {
    return switch (wanted.state()) {
      case WORKING, INPUT_REQUIRED, AUTH_REQUIRED, FAILED, REJECTED -> true;
      case null, default -> false;
    };
  }

  private static Set<TaskState> states(ListTasksRequest wanted) {
    return switch (wanted.state()) {
      case null -> EnumSet.allOf(TaskState.class);
      case SUBMITTED -> EnumSet.of(TaskState.SUBMITTED);
      case WORKING, INPUT_REQUIRED, AUTH_REQUIRED -> AT_WORK;
      case COMPLETED -> EnumSet.of(TaskState.COMPLETED);
      case FAILED, REJECTED -> EnumSet.of(TaskState.FAILED);
      case CANCELED -> EnumSet.of(TaskState.CANCELED);
      case UNKNOWN -> EnumSet.noneOf(TaskState.class);
    };
  }

  private TaskPage read(ListTasksRequest wanted, RootTaskFilter filter) {
    var rootTaskQueries = parts.views().rootTasks();
    return new TaskPage(
        page(filter, wanted.pageToken(), wanted.pageSize()), rootTaskQueries.count(filter));
  }

  private ResultPage<TaskView> page(RootTaskFilter filter, @Nullable String token, int limit) {
    try {
      return parts.views().rootTasks().pageByChange(filter, token, limit);
    } catch (Rejection.Invalid notACursor) {
      throw A2aException.invalid("pageToken: not a token of this list");
    }
  }

  /// Scans the tasks after the token. When the scan limit is reached, the page ends there, with a
  /// token for the next page.
  private TaskPage scan(A2aCaller caller, ListTasksRequest wanted, RootTaskFilter filter) {
    var states = new HashMap<TaskId, A2aState>();
    var from = page(filter, wanted.pageToken(), SCAN_MAX);
    var matching = new ArrayList<TaskView>();
    var next = from.nextCursor();
    for (var task : from.items()) {
      if (matchesState(wanted, caller, task, states)) {
        if (matching.size() == wanted.pageSize()) {
          next = RootTaskQueries.cursor(matching.getLast());
          break;
        }
        matching.add(task);
      }
    }
    return new TaskPage(new ResultPage<>(matching, next), total(caller, wanted, filter, states));
  }

  /// The number of matching tasks; an upper bound if there are too many to scan.
  private long total(
      A2aCaller caller,
      ListTasksRequest wanted,
      RootTaskFilter filter,
      Map<TaskId, A2aState> states) {
    var all = page(filter, null, SCAN_MAX);
    return all.nextCursor() == null
        ? all.items().stream().filter(task -> matchesState(wanted, caller, task, states)).count()
        : parts.views().rootTasks().count(filter);
  }

  private boolean matchesState(
      ListTasksRequest wanted, A2aCaller caller, TaskView task, Map<TaskId, A2aState> known) {
    return known.computeIfAbsent(task.taskId(), _ -> taskReader.state(task, caller.version()))
        == wanted.state();
  }

  /// The parameters of a request that lists tasks.
  record ListTasksRequest(
      @Nullable ContextId context,
      @Nullable A2aState state,
      @Nullable Instant changedSince,
      int pageSize,
      @Nullable String pageToken,
      @Nullable Integer historyLength,
      boolean artifacts) {

    static final int PAGE_MAX = 100;
    private static final int PAGE_DEFAULT = 50;

    static ListTasksRequest of(A2aJsonFields params) {
      var context = params.nonEmptyText("contextId");
      if (context != null && !Id.valid(context)) {
        throw A2aException.invalid("contextId: not a valid context id");
      }
      var size = params.nonNegative("pageSize");
      if (size != null && (size < 1 || size > PAGE_MAX)) {
        throw A2aException.invalid("pageSize: must be between 1 and " + PAGE_MAX);
      }
      return new ListTasksRequest(
          context == null ? null : new ContextId(context),
          state(params.nonEmptyText("status")),
          params.time("statusTimestampAfter"),
          size == null ? PAGE_DEFAULT : size,
          params.nonEmptyText("pageToken"),
          params.nonNegative("historyLength"),
          params.flag("includeArtifacts", false));
    }

    private static @Nullable A2aState state(@Nullable String name) {
      if (name == null) {
        return null;
      }
      var state =
          A2aState.of(name)
              .orElseThrow(() -> A2aException.invalid("status: unknown state " + name));
      return state == A2aState.UNKNOWN ? null : state;
    }
  }
}
