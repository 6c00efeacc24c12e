package dev.parley.door.a2a.sessions;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireRole;
import dev.parley.a2a.WireTask;
import dev.parley.door.DoorParts;
import dev.parley.door.Request;
import dev.parley.door.Voice;
import dev.parley.door.a2a.Marks;
import dev.parley.door.a2a.TaskFold;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.view.TaskView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Shows the tasks of sub-agents as sessions, which can be opened while they run.
///
/// The session's id is the sub-agent's task id. It is not listed. A caller that may read the parent
/// session may read it.
final class SubSessions {

  private static final int READ = 512;
  private static final int NAME_MAX = 50;

  private final DoorParts parts;
  private final Voice voice;

  SubSessions(DoorParts parts) {
    this.parts = parts;
    this.voice = new Voice(parts.log(), parts.views());
  }

  /// The sub-agent's task that the path names with `{c}`; empty if that is a session.
  Optional<TaskView> find(Request request, Callers callers) {
    var id = request.path("c");
    if (!Id.valid(id) || isContext(new ContextId(id))) {
      return Optional.empty();
    }
    var task = new TaskId(id);
    try {
      return parts
          .views()
          .contextOf(task)
          .map(context -> callers.readable(request, context).context().contextId())
          .flatMap(context -> parts.views().task(context, task))
          .filter(found -> found.parentTaskId() != null);
    } catch (Rejection.NotFound notTheirs) {
      return Optional.empty();
    }
  }

  private boolean isContext(ContextId context) {
    try {
      return !parts.log().owner(context).isEmpty();
    } catch (Rejection.NotFound none) {
      return false;
    }
  }

  /// A sub-agent's task as a session.
  Session session(TaskView task) {
    var prompt = task.prompt() == null ? "" : task.prompt();
    return new Session(
        task.taskId().value(),
        prompt.length() <= NAME_MAX ? prompt : prompt.substring(0, NAME_MAX),
        parts.log().owner(task.contextId()),
        task.createdAt(),
        task.updatedAt(),
        task.agentId().value(),
        Session.BY_AGENT);
  }

  /// A sub-agent's task as if it were a root task.
  WireTask task(TaskView task, Version version) {
    var session = new ContextId(task.taskId().value());
    var marks =
        new Marks(
            session, task.taskId(), task.agentId(), parts.log().owner(task.contextId()), true);
    var fold = new TaskFold(voice, marks, version);
    var inside = new HashSet<>(Set.of(task.taskId()));
    var at = new Position(task.seq() - 1, Integer.MAX_VALUE);
    for (var page = parts.log().read(task.contextId(), at, READ);
        !page.isEmpty() && !fold.state().terminal();
        page = parts.log().read(task.contextId(), at, READ)) {
      for (var entry : page) {
        at = entry.position();
        if (isOf(inside, entry.origin())) {
          fold.take(lifted(entry, task.taskId()));
        }
      }
    }
    var shown = fold.task(null, true);
    return new WireTask(
        shown.id(),
        shown.contextId(),
        shown.status(),
        shown.artifacts(),
        history(task, marks, shown),
        shown.metadata());
  }

  private static boolean isOf(Set<TaskId> inside, @Nullable Origin origin) {
    return origin != null
        && (inside.contains(origin.taskId())
            || (origin.parentTaskId() != null
                && inside.contains(origin.parentTaskId())
                && inside.add(origin.taskId())));
  }

  private static Entry lifted(Entry entry, TaskId root) {
    var origin = Objects.requireNonNull(entry.origin());
    return new Entry(
        entry.contextId(),
        entry.position(),
        entry.eventId(),
        entry.timestamp(),
        new Origin(
            origin.taskId(),
            origin.taskId().equals(root) ? null : origin.parentTaskId(),
            root,
            origin.agentId(),
            origin.agentLevel(),
            origin.invocationId(),
            origin.spawnedByCallId(),
            origin.traceId()),
        entry.event());
  }

  /// A sub-agent's task has no messages: its prompt and its answer are shown as messages.
  private static List<WireMessage> history(TaskView task, Marks marks, WireTask shown) {
    var history = new ArrayList<WireMessage>();
    if (task.prompt() != null) {
      history.add(message(task, marks, WireRole.USER, task.prompt()));
    }
    if (shown.history() != null) {
      history.addAll(shown.history());
    }
    if (task.content() != null) {
      history.add(message(task, marks, WireRole.AGENT, task.content()));
    }
    return history;
  }

  private static WireMessage message(TaskView task, Marks marks, WireRole role, String text) {
    var author = role == WireRole.USER ? "user" : task.agentId().value();
    return new WireMessage(
        task.taskId().value() + (role == WireRole.USER ? ":prompt" : ":answer"),
        marks.context().value(),
        task.taskId().value(),
        role,
        List.of(WirePart.text(text)),
        marks.ofMessage(null, author));
  }
}
