package dev.parley.door.a2a;

import dev.parley.a2a.WireForm;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireTask;
import dev.parley.door.DoorParts;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.view.Page;
import dev.parley.view.RootFilter;
import dev.parley.view.Roots;
import dev.parley.view.TaskView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Lists tasks, a page at a time.
final class Lister {

  /// How many tasks are scanned for one page, if the requested state must be computed from events.
  private static final int LOOK_MAX = 1_000;

  private static final Set<TaskState> AT_WORK =
      EnumSet.of(
          TaskState.WORKING,
          TaskState.WAITING_INPUT,
          TaskState.WAITING_AUTH,
          TaskState.WAITING_SUBTASK);

  private final DoorParts parts;
  private final TaskForm form;

  Lister(DoorParts parts, TaskForm form) {
    this.parts = parts;
    this.form = form;
  }

  private record Found(Page<TaskView> page, long total) {}

  /// The answer to a request for tasks.
  ObjectNode list(Caller caller, Listing wanted, WireForm written) {
    var filter =
        new RootFilter(
            caller.agent(),
            parts.access().owners(caller.principal()),
            wanted.context(),
            states(wanted),
            wanted.changedSince(),
            caller.tenant());
    var found = ofEvents(wanted) ? looked(caller, wanted, filter) : read(wanted, filter);
    var tasks = new ArrayList<WireTask>();
    for (var task : found.page().items()) {
      tasks.add(form.snapshot(task, caller.version(), wanted.historyLength(), wanted.artifacts()));
    }
    tasks.sort(Comparator.comparing(Lister::changed, Comparator.reverseOrder()));
    var next = found.page().nextCursor();
    var json = Json.object();
    var list = json.putArray("tasks");
    tasks.forEach(task -> list.add(written.task(task)));
    return json.put("nextPageToken", next == null ? "" : next)
        .put("pageSize", wanted.pageSize())
        .put("totalSize", found.total());
  }

  private static long changed(WireTask task) {
    return task.status().timestamp() == null ? 0 : task.status().timestamp().toEpochMilli();
  }

  /// True if the state depends on subtasks, or on the reason why a task ended.
  private static boolean ofEvents(Listing wanted) {
    return switch (wanted.state()) {
      case WORKING, INPUT_REQUIRED, AUTH_REQUIRED, FAILED, REJECTED -> true;
      case null, default -> false;
    };
  }

  private static Set<TaskState> states(Listing wanted) {
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

  private Found read(Listing wanted, RootFilter filter) {
    var roots = parts.views().roots();
    return new Found(page(filter, wanted.pageToken(), wanted.pageSize()), roots.count(filter));
  }

  private Page<TaskView> page(RootFilter filter, @Nullable String token, int limit) {
    try {
      return parts.views().roots().changed(filter, token, limit);
    } catch (Rejection.Invalid notACursor) {
      throw Params.invalid("pageToken: not a token of this list");
    }
  }

  /// Scans the tasks after the token. When the scan limit is reached, the page ends there, with a
  /// token for the next page.
  private Found looked(Caller caller, Listing wanted, RootFilter filter) {
    var states = new HashMap<TaskId, WireState>();
    var from = page(filter, wanted.pageToken(), LOOK_MAX);
    var matching = new ArrayList<TaskView>();
    var next = from.nextCursor();
    for (var task : from.items()) {
      if (isIn(wanted, caller, task, states)) {
        if (matching.size() == wanted.pageSize()) {
          next = Roots.cursor(matching.getLast());
          break;
        }
        matching.add(task);
      }
    }
    return new Found(new Page<>(matching, next), total(caller, wanted, filter, states));
  }

  /// The number of matching tasks; an upper bound if there are too many to scan.
  private long total(
      Caller caller, Listing wanted, RootFilter filter, Map<TaskId, WireState> states) {
    var all = page(filter, null, LOOK_MAX);
    return all.nextCursor() == null
        ? all.items().stream().filter(task -> isIn(wanted, caller, task, states)).count()
        : parts.views().roots().count(filter);
  }

  private boolean isIn(Listing wanted, Caller caller, TaskView task, Map<TaskId, WireState> known) {
    return known.computeIfAbsent(task.taskId(), _ -> form.state(task, caller.version()))
        == wanted.state();
  }
}
