package dev.parley.api.a2a.sessions;

import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Shows the log of a context as session events: messages, state changes, rewinds, and events of
/// external agents.
///
/// If the context was rewound, the log is read backward from the newest event. At a rewind the scan
/// jumps to the rewind's target: rewound events are omitted, the rewind itself is included.
final class SessionEvents {

  /// The source of events that were posted to this API.
  static final String POSTED = "session-event";

  private static final int WINDOW = 500;

  /// Which events to return.
  record SessionEventQuery(Instant after, int limit, boolean oldestFirst) {}

  private final EventLog log;
  private final Views views;

  SessionEvents(EventLog log, Views views) {
    this.log = log;
    this.views = views;
  }

  /// The events that the query selects, in the order that it requests.
  List<ObjectNode> read(ContextId context, String user, SessionEventQuery query) {
    return query.oldestFirst() && query.after().equals(Instant.MIN) && neverRewound(context)
        ? readForward(context, user, query)
        : readBackward(context, user, query);
  }

  /// True if no event of the log was rewound and the context is not a fork.
  private boolean neverRewound(ContextId context) {
    return views.lastRewind(context).isEmpty() && views.context(context).forkedFrom() == null;
  }

  /// Reads forward from the oldest event, up to the limit.
  private List<ObjectNode> readForward(ContextId context, String user, SessionEventQuery query) {
    var found = new ArrayList<ObjectNode>();
    var at = Position.START;
    for (var page = log.read(context, at, WINDOW);
        !page.isEmpty() && found.size() < query.limit();
        page = log.read(context, at, WINDOW)) {
      for (var entry : page) {
        at = entry.position();
        if (found.size() < query.limit() && isShown(entry)) {
          var edit =
              entry.event() instanceof Message message
                  ? currentEdit(context, message)
                  : EditStatus.SAME;
          if (!edit.deleted()) {
            found.add(toJson(entry, user, edit.edited()));
          }
        }
      }
    }
    return found;
  }

  /// Whether a message was deleted or edited.
  private record EditStatus(boolean deleted, @Nullable String edited) {
    private static final EditStatus SAME = new EditStatus(false, null);
  }

  private EditStatus currentEdit(ContextId context, Message message) {
    var now = views.message(context, message.messageId());
    if (now.isEmpty()) {
      return new EditStatus(views.turnPosition(context, message.messageId()).isPresent(), null);
    }
    return new EditStatus(false, now.get().editedAt() == null ? null : now.get().content());
  }

  private List<ObjectNode> readBackward(ContextId context, String user, SessionEventQuery query) {
    var scan = new BackwardScan(query);
    for (var upper = log.head(context).seq(); upper > 0 && !scan.done; ) {
      var lower = Math.max(0, upper - WINDOW);
      var next = lower;
      for (var entry : window(context, lower, upper).reversed()) {
        scan.accept(entry, message -> currentEdit(context, message));
        if (scan.done) {
          break;
        }
        if (entry.event() instanceof ContextRewound rewound) {
          next = Math.clamp(rewound.toSeq(), 0, entry.position().seq() - 1);
          break;
        }
      }
      upper = next;
    }
    var found = query.oldestFirst() ? scan.found.reversed() : scan.found;
    return found.stream().map(one -> toJson(one.entry(), user, one.edited())).toList();
  }

  private List<Entry> window(ContextId context, long lower, long upper) {
    var entries = new ArrayList<Entry>();
    var at = new Position(lower, Integer.MAX_VALUE);
    while (true) {
      var page = log.read(context, at, WINDOW);
      for (var entry : page) {
        if (entry.position().seq() > upper) {
          return entries;
        }
        entries.add(entry);
      }
      if (page.size() < WINDOW) {
        return entries;
      }
      at = page.getLast().position();
    }
  }

  private static boolean isShown(Entry entry) {
    return switch (entry.event()) {
      case Message _, StateUpdated _, ContextRewound _ -> true;
      case InternalRaw raw -> raw.source().equals(POSTED);
      default -> false;
    };
  }

  /// An event to show, and the edited text of its message.
  private record FoundEvent(Entry entry, @Nullable String edited) {}

  /// A backward scan with the events found so far, newest first, at most as many as the limit.
  private static final class BackwardScan {

    private final SessionEventQuery query;
    private final Deque<FoundEvent> found = new ArrayDeque<>();
    private boolean done;

    BackwardScan(SessionEventQuery query) {
      this.query = query;
    }

    void accept(Entry entry, Function<Message, EditStatus> now) {
      if (!entry.timestamp().isAfter(query.after())) {
        done = true;
        return;
      }
      switch (entry.event()) {
        case Message message -> {
          var edit = now.apply(message);
          if (!edit.deleted()) {
            add(new FoundEvent(entry, edit.edited()));
          }
        }
        default -> {
          if (isShown(entry)) {
            add(new FoundEvent(entry, null));
          }
        }
      }
    }

    private void add(FoundEvent one) {
      found.addLast(one);
      if (query.oldestFirst() && found.size() > query.limit()) {
        found.removeFirst();
      }
      done = !query.oldestFirst() && found.size() >= query.limit();
    }
  }

  /// An entry as a session event.
  private static ObjectNode toJson(Entry entry, String user, @Nullable String edited) {
    return switch (entry.event()) {
      case Message message ->
          toJson(
              entry,
              user,
              message.messageId().value(),
              messageEvent(entry, message, edited).toString());
      case StateUpdated updated -> {
        var event = event(entry, null, "user");
        event.withObject("actions").set("state_delta", updated.delta());
        yield toJson(entry, user, entry.eventId().toString(), event.toString());
      }
      case ContextRewound rewound ->
          toJson(entry, user, entry.eventId().toString(), rewindEvent(entry, rewound).toString());
      case InternalRaw(_, var line, _) -> {
        var kept = Json.mapper().readTree(line);
        yield toJson(entry, user, kept.path("id").asString(), kept.path("data").asString());
      }
      default -> throw new IllegalArgumentException("not a session event: " + entry.event());
    };
  }

  private static ObjectNode toJson(Entry entry, String user, String id, String data) {
    var event = Json.object().put("id", id).put("session_id", entry.contextId().value());
    event.put("user_id", user).put("created_at", entry.timestamp().toString());
    return event.put("updated_at", entry.timestamp().toString()).put("data", data);
  }

  private static ObjectNode messageEvent(Entry entry, Message message, @Nullable String edited) {
    var origin = entry.origin();
    var byUser = message.role() == Role.USER;
    var task =
        origin != null
            ? origin.rootTaskId().value()
            : message.facts().taskId().map(TaskId::value).orElse(null);
    var author = byUser ? "user" : origin == null ? "agent" : origin.agentId().value();
    var event = event(entry, task, author);
    event.put("id", message.messageId().value());
    var content = event.putObject("content").put("role", byUser ? "user" : "model");
    content.putArray("parts").addObject().put("text", edited == null ? message.content() : edited);
    return event;
  }

  private static ObjectNode rewindEvent(Entry entry, ContextRewound rewound) {
    var event = event(entry, null, "user");
    var actions = event.withObject("actions");
    var before =
        rewound.beforeTaskId() != null ? rewound.beforeTaskId() : rewound.beforeMessageId();
    if (before != null) {
      actions.put("rewind_before_invocation_id", before.value());
    }
    actions.set("state_delta", orEmpty(rewound.stateDelta()));
    actions.set("artifact_delta", orEmpty(rewound.artifactDelta()));
    return event;
  }

  private static ObjectNode orEmpty(@Nullable ObjectNode delta) {
    return delta == null ? Json.object() : delta;
  }

  private static ObjectNode event(Entry entry, @Nullable String task, String author) {
    var event = Json.object().put("id", entry.eventId().toString());
    event.put("invocation_id", task == null ? entry.eventId().toString() : task);
    event.put("author", author);
    event.put("timestamp", entry.timestamp().toEpochMilli() / 1000.0);
    return event;
  }
}
