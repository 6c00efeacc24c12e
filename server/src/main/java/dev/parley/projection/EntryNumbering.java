package dev.parley.projection;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
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

/// Decides which entries of a root task are numbered: 1, 2, 3, … without gaps.
///
/// The views and all readers that continue counting from a mark use this class. The decision
/// depends only on the entry, so an entry always has the same number. A change here changes numbers
/// and requires a new version of the views.
public final class EntryNumbering {

  private EntryNumbering() {}

  /// Returns the root task in which the entry has a number, or null if it has none.
  public static @Nullable TaskId root(Entry entry) {
    if (entry.event() instanceof Message message) {
      return message.role() == Role.USER ? receiver(message) : null;
    }
    var origin = entry.origin();
    return origin != null && !entry.event().internal() && numbered(origin, entry.event())
        ? origin.rootTaskId()
        : null;
  }

  /// Returns the task that a person's message was sent to while the task was running. The message
  /// that started a task is part of `task-created`.
  private static @Nullable TaskId receiver(Message message) {
    return message.facts().steers() ? message.facts().taskId().orElse(null) : null;
  }

  private static boolean numbered(Origin origin, Event event) {
    var isRoot = origin.parentTaskId() == null;
    return switch (event) {
      // Parent tasks report when their sub-tasks begin and end.
      case TaskCreated _, TaskComplete _ -> isRoot;
      case TaskStatus status ->
          isRoot && (status.status() == TaskState.FAILED || status.status() == TaskState.CANCELED);
      case ContentDelta _ -> true;
      // The deltas already contain the text, but not the fact that the block is partial.
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

  /// The number of an entry within its root task, and the entry's seq.
  public record EntryNumber(long number, long seq) {

    static final EntryNumber NONE = new EntryNumber(0, 0);
  }
}
