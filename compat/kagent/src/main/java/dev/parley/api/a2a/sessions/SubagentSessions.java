package dev.parley.api.a2a.sessions;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aRole;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.ApiDependencies;
import dev.parley.api.a2a.A2aTaskFold;
import dev.parley.api.a2a.KagentMetadata;
import dev.parley.http.Request;
import dev.parley.projection.TaskTree;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Shows the tasks of sub-agents as sessions, which can be opened while they run.
///
/// The session's id is the sub-agent's task id. It is not listed. A caller that may read the parent
/// session may read it.
final class SubagentSessions {

  private static final int READ = 512;
  private static final int NAME_MAX = 50;

  private final ApiDependencies parts;

  SubagentSessions(ApiDependencies parts) {
    this.parts = parts;
  }

  /// The sub-agent's task that the path names with `{c}`; empty if that is a session.
  Optional<TaskView> find(Request request, SessionAccess sessionAccess) {
    var id = request.path("c");
    if (!Id.valid(id) || isContext(new ContextId(id))) {
      return Optional.empty();
    }
    var task = new TaskId(id);
    try {
      return parts
          .views()
          .contextOf(task)
          .map(context -> sessionAccess.readable(request, context).context().contextId())
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
  KagentSession session(TaskView task) {
    var prompt = task.prompt() == null ? "" : task.prompt();
    return new KagentSession(
        task.taskId().value(),
        prompt.length() <= NAME_MAX ? prompt : prompt.substring(0, NAME_MAX),
        parts.log().owner(task.contextId()),
        task.createdAt(),
        task.updatedAt(),
        task.agentId().value(),
        KagentSession.BY_AGENT);
  }

  /// A sub-agent's task as if it were a root task.
  A2aTask task(TaskView task, A2aVersion version) {
    var session = new ContextId(task.taskId().value());
    var marks =
        new KagentMetadata(
            session, task.taskId(), task.agentId(), parts.log().owner(task.contextId()), true);
    var fold = new A2aTaskFold(marks, version);
    var tree = new TaskTree();
    var at = new Position(task.seq() - 1, Integer.MAX_VALUE);
    for (var page = parts.log().read(task.contextId(), at, READ);
        !page.isEmpty() && !fold.state().terminal();
        page = parts.log().read(task.contextId(), at, READ)) {
      for (var entry : page) {
        at = entry.position();
        tree.apply(entry);
        var origin = entry.origin();
        if (origin != null && tree.isWithin(origin.taskId(), task.taskId())) {
          fold.apply(asRootEntry(entry, origin, task.taskId()));
        }
      }
    }
    var shown = fold.task(null, true);
    return shown.with(shown.artifacts(), history(task, marks, shown));
  }

  private static Entry asRootEntry(Entry entry, Origin origin, TaskId root) {
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
  private static List<A2aMessage> history(TaskView task, KagentMetadata marks, A2aTask shown) {
    var history = new ArrayList<A2aMessage>();
    if (task.prompt() != null) {
      history.add(message(task, marks, A2aRole.USER, task.prompt()));
    }
    if (shown.history() != null) {
      history.addAll(shown.history());
    }
    if (task.content() != null) {
      history.add(message(task, marks, A2aRole.AGENT, task.content()));
    }
    return history;
  }

  private static A2aMessage message(
      TaskView task, KagentMetadata marks, A2aRole role, String text) {
    var author = role == A2aRole.USER ? "user" : task.agentId().value();
    return new A2aMessage(
        task.taskId().value() + (role == A2aRole.USER ? ":prompt" : ":answer"),
        marks.context().value(),
        task.taskId().value(),
        role,
        List.of(A2aPart.text(text)),
        marks.ofMessage(null, author));
  }
}
