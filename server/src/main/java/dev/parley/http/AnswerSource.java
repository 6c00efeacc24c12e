package dev.parley.http;

import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.RoutingFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

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
    if (origin == null) {
      return false;
    }
    if (origin.parentTaskId() == null) {
      return true;
    }
    return origin.parentTaskId().equals(origin.rootTaskId())
        && isDelegated(entry, new Key(entry.contextId(), origin.rootTaskId()));
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
    var position = beginning(entry, key);
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

  private Position beginning(Entry entry, Key key) {
    try {
      return views
          .startPosition(key.context(), key.root(), entry.position())
          .map(begun -> Position.of(begun.seq() - 1))
          .orElse(Position.START);
    } catch (Rejection.Unavailable viewsCannotBeUsed) {
      // Reading the whole log is slower but gives the same result.
      return Position.START;
    }
  }
}
