package dev.parley.door.a2a.sessions;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.InternalRaw;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The log of a context as events of a session: what was said, what changed its state, each rewind, and what agents
/// elsewhere have added.
///
/// It is read from the newest event back. At a rewind the walk jumps to the place that was gone back to, so what is
/// rewound is not among them (S3.54), yet that there was a rewind is (S3.47).
final class SessionEvents {

  /// What this door puts into the log for others has this source.
  static final String POSTED = "session-event";

  private static final int WINDOW = 500;

  /// Which events are wanted.
  record Wish(Instant after, int limit, boolean oldestFirst) {}

  private final EventLog log;

  SessionEvents(EventLog log) {
    this.log = log;
  }

  /// The events that are wanted, in the wanted order.
  List<ObjectNode> read(ContextId context, String user, Wish wish) {
    var walk = new Walk(user, wish);
    for (var upper = log.head(context).seq(); upper > 0 && !walk.ended; ) {
      var lower = Math.max(0, upper - WINDOW);
      var next = lower;
      for (var entry : window(context, lower, upper).reversed()) {
        walk.take(entry);
        if (walk.ended) {
          break;
        }
        if (entry.event() instanceof ContextRewound rewound) {
          next = Math.clamp(rewound.toSeq(), 0, entry.position().seq() - 1);
          break;
        }
      }
      upper = next;
    }
    return wish.oldestFirst() ? walk.oldest() : walk.found;
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

  /// What was found so far, newest first, and what later events say about earlier ones.
  private static final class Walk {

    private final String user;
    private final Wish wish;
    private final List<ObjectNode> found = new ArrayList<>();
    private final Set<MessageId> deleted = new HashSet<>();
    private final Map<MessageId, String> edited = new HashMap<>();
    private boolean ended;

    Walk(String user, Wish wish) {
      this.user = user;
      this.wish = wish;
    }

    void take(Entry entry) {
      if (!entry.timestamp().isAfter(wish.after())) {
        ended = true;
        return;
      }
      switch (entry.event()) {
        case MessageDeleted gone -> deleted.add(gone.messageId());
        case MessageUpdated edit -> edited.putIfAbsent(edit.messageId(), edit.content());
        case Message message when !deleted.contains(message.messageId()) ->
            add(entry, message.messageId().value(), said(entry, message));
        case StateUpdated updated -> {
          var event = event(entry, null, "user");
          event.withObject("actions").set("state_delta", updated.delta());
          add(entry, entry.eventId().toString(), event);
        }
        case ContextRewound rewound -> add(entry, entry.eventId().toString(), went(entry, rewound));
        case InternalRaw(var source, var line) when source.equals(POSTED) -> {
          var kept = Json.mapper().readTree(line);
          add(entry, kept.path("id").asString(), kept.path("data").asString());
        }
        default -> {} // No event of a session.
      }
    }

    private ObjectNode said(Entry entry, Message message) {
      var origin = entry.origin();
      var byUser = message.role() == Role.USER;
      var metadata = message.metadata();
      var task =
          origin != null
              ? origin.rootTaskId().value()
              : metadata == null ? null : metadata.path("taskId").asStringOpt().orElse(null);
      var author = byUser ? "user" : origin == null ? "agent" : origin.agentId().value();
      var event = event(entry, task, author);
      event.put("id", message.messageId().value());
      var content = event.putObject("content").put("role", byUser ? "user" : "model");
      var text = edited.getOrDefault(message.messageId(), message.content());
      content.putArray("parts").addObject().put("text", text);
      return event;
    }

    private static ObjectNode went(Entry entry, ContextRewound rewound) {
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

    private void add(Entry entry, String id, ObjectNode data) {
      add(entry, id, data.toString());
    }

    private void add(Entry entry, String id, String data) {
      var event = Json.object().put("id", id).put("session_id", entry.contextId().value());
      event.put("user_id", user).put("created_at", entry.timestamp().toString());
      found.add(event.put("updated_at", entry.timestamp().toString()).put("data", data));
      ended = !wish.oldestFirst() && found.size() >= wish.limit();
    }

    private List<ObjectNode> oldest() {
      return found.reversed().stream().limit(wish.limit()).toList();
    }
  }
}
