package dev.parley.view;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskDeleted;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskEvent.TaskStored;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent;
import dev.parley.protocol.ToolEvent;
import org.jspecify.annotations.Nullable;

/// Which entries have a number in the story of a root task: 1, 2, 3, … without holes.
///
/// Whoever counts asks here: the views, which note how far the count has come, and those who count on from
/// there. Depends on the entry alone, so that the same entry has the same number for ever; a change here
/// changes numbers, so it needs another version of the views.
public final class Numbering {

  private Numbering() {}

  /// The root task in whose story the entry has a number; null if it has none anywhere.
  public static @Nullable TaskId root(Entry entry) {
    if (entry.event() instanceof Message message) {
      return message.role() == Role.USER ? heardBy(message) : null;
    }
    var origin = entry.origin();
    return origin != null && !entry.event().internal() && numbered(origin, entry.event())
        ? origin.rootTaskId()
        : null;
  }

  /// The task to which a person said this while it worked. What began a task is told by the task itself.
  private static @Nullable TaskId heardBy(Message message) {
    var metadata = message.metadata();
    if (metadata == null || !metadata.path("steer").asBoolean(false)) {
      return null;
    }
    var task = metadata.path("taskId").asString("");
    return Id.valid(task) ? new TaskId(task) : null;
  }

  private static boolean numbered(Origin origin, Event event) {
    var isRoot = origin.parentTaskId() == null;
    return switch (event) {
      // Of tasks below, their parents tell when they begin and end.
      case TaskCreated _, TaskComplete _ -> isRoot;
      case TaskStatus status ->
          isRoot && (status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED);
      case ContentDelta _ -> true;
      // Its text was told by its deltas; that it is only a part of what was to be said was not.
      case ContentComplete complete -> Boolean.TRUE.equals(complete.partial());
      case ToolEvent _,
          InputEvent _,
          AuthEvent _,
          ArtifactEvent _,
          SubtaskEvent _,
          ThoughtEvent _,
          Usage _,
          ErrorReported _ ->
          true;
      case CancelRequested _,
          TaskStored _,
          TaskDeleted _,
          ContextEvent _,
          MessageEvent _,
          InternalRaw _ ->
          false;
    };
  }
}
