package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Origin;
import dev.parley.protocol.RoutingFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// Decides which task's output is the answer of a root task, for APIs that show a single answer.
///
/// Usually it is the output of the root task itself. If a supervisor delegates all of the work to
/// one agent, it is the output of that agent's task. The decision depends only on the log before an
/// entry. For many threads; the monitor guards `known`.
public final class AnswerSource {

  private static final int KNOWN_MAX = 4_096;
  private static final int READ = 64;

  private final EventLog log;
  private final Views views;
  private final Map<Key, Boolean> known = new LinkedHashMap<>(16, 0.75f, true);

  private record Key(ContextId context, TaskId root) {}

  public AnswerSource(EventLog log, Views views) {
    this.log = log;
    this.views = views;
  }

  /// True if the output of the entry's task is part of the answer.
  public boolean isAnswer(Entry entry) {
    var origin = entry.origin();
    return origin != null
        && isAnswer(origin, root -> isDelegated(entry, new Key(entry.contextId(), root)));
  }

  /// The same for a reader that knows which root tasks delegate all of their work to one agent.
  static boolean isAnswer(Origin origin, Predicate<TaskId> delegates) {
    var parent = origin.parentTaskId();
    return parent == null || (parent.equals(origin.rootTaskId()) && delegates.test(parent));
  }

  private boolean isDelegated(Entry entry, Key key) {
    synchronized (this) {
      var answer = known.get(key);
      if (answer != null) {
        return answer;
      }
    }
    // The decision precedes all output of the task's children, so it never changes.
    var answer = routing(entry, key).filter(RoutingFacts::delegatesToOneAgent).isPresent();
    synchronized (this) {
      known.put(key, answer);
      if (known.size() > KNOWN_MAX) {
        known.remove(known.keySet().iterator().next());
      }
    }
    return answer;
  }

  /// How the root task delegated its work, if it did.
  private Optional<RoutingFacts> routing(Entry entry, Key key) {
    var position = views.positionBefore(key.context(), key.root(), entry.position());
    while (entry.position().after(position)) {
      for (var read : log.read(key.context(), position, READ)) {
        position = read.position();
        if (key.root().equals(read.taskId())
            && read.event() instanceof TaskStatus status
            && status.facts().routing().isPresent()) {
          return status.facts().routing();
        }
      }
    }
    return Optional.empty();
  }
}
