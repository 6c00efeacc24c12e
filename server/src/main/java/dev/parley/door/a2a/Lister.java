package dev.parley.door.a2a;

import dev.parley.a2a.WireForm;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireTask;
import dev.parley.door.DoorParts;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskState;
import dev.parley.view.Page;
import dev.parley.view.RootFilter;
import dev.parley.view.Roots;
import dev.parley.view.TaskView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/// Lists tasks, a page at a time.
final class Lister {

  /// How many open tasks are looked at to find those in one of the states that only the whole tree tells.
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
    var found = ofTree(wanted) ? looked(caller, wanted, filter) : read(wanted, filter);
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

  /// True if the state depends on tasks below.
  private static boolean ofTree(Listing wanted) {
    var state = wanted.state();
    return state == WireState.WORKING || (state != null && state.interrupted());
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
    return new Found(page(wanted, filter, wanted.pageSize()), roots.count(filter));
  }

  private Page<TaskView> page(Listing wanted, RootFilter filter, int limit) {
    try {
      return parts.views().roots().changed(filter, wanted.pageToken(), limit);
    } catch (Rejection.Invalid notACursor) {
      throw Params.invalid("pageToken: not one of this list");
    }
  }

  private Found looked(Caller caller, Listing wanted, RootFilter filter) {
    var first = parts.views().roots().changed(filter, null, LOOK_MAX).items();
    var matching =
        first.stream()
            .filter(task -> form.now(task, caller.version()).state() == wanted.state())
            .toList();
    return new Found(cut(wanted, matching), matching.size());
  }

  private static Page<TaskView> cut(Listing wanted, List<TaskView> matching) {
    var from = 0;
    if (wanted.pageToken() != null) {
      var cursors = matching.stream().map(Roots::cursor).toList();
      from = cursors.indexOf(wanted.pageToken()) + 1;
      if (from == 0) {
        throw Params.invalid("pageToken: not one of this list, or no longer");
      }
    }
    var to = Math.min(matching.size(), from + wanted.pageSize());
    var next = to < matching.size() ? Roots.cursor(matching.get(to - 1)) : null;
    return new Page<>(matching.subList(from, to), next);
  }
}
