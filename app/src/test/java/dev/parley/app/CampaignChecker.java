package dev.parley.app;

import dev.parley.app.CampaignHistory.AcknowledgedFork;
import dev.parley.app.CampaignHistory.Acknowledgement;
import dev.parley.app.CampaignHistory.Reading;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Checks a complete history against the promises of the log. It knows events only as JSON.
final class CampaignChecker {

  private static final Set<String> ENDS = Set.of("completed", "failed", "canceled");

  private final CampaignHistory history;
  private final Map<String, List<JsonNode>> logs;
  private final List<String> violations;

  private CampaignChecker(CampaignHistory history) {
    this.history = history;
    this.logs = history.logs();
    this.violations = new ArrayList<>(history.violations());
  }

  /// Returns a sentence for each violation.
  static List<String> check(CampaignHistory history) {
    var checker = new CampaignChecker(history);
    for (var context : history.contexts()) {
      if (!checker.logs.containsKey(context)) {
        checker.violated(context, "the context was acknowledged and is missing");
      }
    }
    checker.logs.forEach(checker::checkLog);
    history.acknowledgements().forEach(checker::checkAcknowledgement);
    history.readings().forEach(checker::checkReading);
    history.forks().forEach(checker::checkFork);
    checker.checkEffects();
    return checker.violations;
  }

  private void violated(String context, String sentence) {
    violations.add(context + ": " + sentence);
  }

  private void checkLog(String context, List<JsonNode> events) {
    for (var i = 0; i < events.size(); i++) {
      if (events.get(i).path("seq").asLong() != i + 1) {
        violated(context, "number " + (i + 1) + " is " + events.get(i));
        return;
      }
    }
    checkIds(context, events);
    checkTasks(context, events);
    checkTexts(context, events);
    checkCalls(context, events);
  }

  private void checkIds(String context, List<JsonNode> events) {
    var ids = new HashSet<String>();
    for (var event : events) {
      if (!ids.add(event.path("eventId").asString())) {
        violated(context, "two events have the id of " + event);
      }
      var unique =
          switch (event.path("kind").asString()) {
            case "message" -> "message " + event.path("messageId").asString();
            case "task-created" -> "task " + event.path("taskId").asString();
            case "input-received" -> "answer " + event.path("inputId").asString();
            default -> "event " + event.path("seq").asLong();
          };
      if (!ids.add(unique)) {
        violated(context, "it exists twice: " + unique);
      }
    }
  }

  /// Each task ends once, and nothing of it follows.
  private void checkTasks(String context, List<JsonNode> events) {
    var ends = new HashMap<String, String>();
    for (var event : events) {
      var kind = event.path("kind").asString();
      var task = event.path("taskId").asString("");
      if (kind.equals("task-created")) {
        ends.put(task, "");
      } else if (!task.isEmpty() && !kind.startsWith("message-")) {
        var end = ends.get(task);
        if (end == null) {
          // The message that a task answers comes before it.
          if (!kind.equals("message")) {
            violated(context, "the task was not created before " + event);
          }
        } else if (!end.isEmpty() && !(end.equals("completed") && kind.equals("task-complete"))) {
          violated(context, "the task had ended before " + event);
        } else if (kind.equals("task-complete")) {
          ends.put(task, "complete");
        } else if (kind.equals("task-status") && ENDS.contains(event.path("status").asString())) {
          ends.put(task, event.path("status").asString());
        }
      }
    }
    ends.forEach(
        (task, end) -> {
          if (end.isEmpty() || end.equals("completed")) {
            violated(context, "task " + task + " did not end");
          }
        });
  }

  /// The pieces of each text are complete.
  private void checkTexts(String context, List<JsonNode> events) {
    var texts = new HashMap<String, StringBuilder>();
    var indexes = new HashMap<String, Integer>();
    for (var event : events) {
      var block = event.path("blockId").asString("");
      var kind = event.path("kind").asString();
      if (kind.equals("content-delta")) {
        if (event.path("index").asInt() != indexes.merge(block, 1, Integer::sum) - 1) {
          violated(context, "a piece of text is missing before " + event);
        }
        texts
            .computeIfAbsent(block, _ -> new StringBuilder())
            .append(event.path("delta").asString());
      } else if (kind.equals("content-complete")) {
        var text = Objects.toString(texts.remove(block), "");
        if (!text.equals(event.path("content").asString(""))) {
          violated(context, "the text '" + text + "' ends as " + event);
        }
      }
    }
  }

  /// Each call starts once, as its tool permits no more, and ends at most once.
  private void checkCalls(String context, List<JsonNode> events) {
    var seen = new HashSet<String>();
    for (var event : events) {
      var kind = event.path("kind").asString();
      if ((kind.equals("tool-start") || kind.equals("tool-complete"))
          && !seen.add(kind + " " + event.path("toolCallId").asString())) {
        violated(context, "a second time: " + event);
      }
    }
  }

  private void checkAcknowledgement(Acknowledgement acknowledgement) {
    var events = logs.get(acknowledgement.contextId());
    if (events == null) {
      return; // It was deleted, or its absence was reported.
    }
    var field = acknowledgement.kind().equals("message") ? "messageId" : "inputId";
    var index = acknowledgement.seq() - 1;
    var found = index >= 0 && index < events.size() ? events.get((int) index) : Json.object();
    if (!found.path("kind").asString("").equals(acknowledgement.kind())
        || !found.path(field).asString("").equals(acknowledgement.id())) {
      violated(
          acknowledgement.contextId(),
          acknowledgement + " was acknowledged, but there is " + found);
    }
  }

  /// What a reader received is the beginning of the log, without a gap and without a repetition.
  private void checkReading(Reading reading) {
    var events = logs.get(reading.contextId());
    if (events == null) {
      return;
    }
    var next = 0;
    for (var frame : List.copyOf(reading.frames())) {
      var event = Json.mapper().readTree(frame);
      if (next >= events.size() || !event.equals(events.get(next))) {
        violated(
            reading.contextId(),
            "%s received %s instead of %s"
                .formatted(
                    reading.reader(), frame, next < events.size() ? events.get(next) : "the end"));
        return;
      }
      next++;
    }
  }

  /// A fork begins like its source, up to the event that says that it is a fork.
  private void checkFork(AcknowledgedFork fork) {
    var events = logs.get(fork.contextId());
    var source = logs.get(fork.sourceId());
    if (events == null) {
      return;
    }
    var inherited = inherited(events);
    if (inherited == 0) {
      violated(fork.contextId(), "says nowhere that it is a fork");
    }
    for (var i = 0; i < inherited && source != null; i++) {
      if (i >= source.size()
          || !withoutContext(events.get(i)).equals(withoutContext(source.get(i)))) {
        violated(fork.contextId(), "differs from its source " + fork.sourceId() + " at " + (i + 1));
        return;
      }
    }
  }

  /// The number of events that a fork has from its source, which may be a fork too.
  private static int inherited(List<JsonNode> events) {
    var last = events.size() - 1;
    while (last >= 0 && !events.get(last).path("kind").asString().equals("context-forked")) {
      last--;
    }
    return Math.max(0, last);
  }

  private static ObjectNode withoutContext(JsonNode event) {
    return ((ObjectNode) event).deepCopy().without("contextId");
  }

  /// Each call had its effect at most once, after its start was in the log, and exactly once if the
  /// log says that it succeeded.
  private void checkEffects() {
    var effects = history.effects();
    var started = new HashSet<String>();
    var tasks = new HashSet<String>();
    logs.forEach(
        (context, events) -> {
          var keys = new HashMap<String, String>();
          // A task that a fork has from a context that was deleted may have started more there.
          for (var event : events.subList(inherited(events), events.size())) {
            if (event.path("kind").asString().equals("task-created")) {
              tasks.add(event.path("taskId").asString());
            }
          }
          for (var event : events) {
            var call = event.path("toolCallId").asString("");
            if (event.path("kind").asString().equals("tool-start")) {
              keys.put(call, event.path("key").asString(""));
              started.add(event.path("key").asString(""));
            } else if (event.path("kind").asString().equals("tool-complete")
                && event.path("toolName").asString().equals("shell")
                && event.path("success").asBoolean()
                && effects.getOrDefault(keys.getOrDefault(call, ""), 0) != 1) {
              violated(context, "no effect belongs to " + event);
            }
          }
        });
    effects.forEach(
        (key, count) -> {
          if (count != 1) {
            violations.add("the effect of " + key + " happened " + count + " times");
          }
          if (!started.contains(key) && tasks.contains(key.split("/", 2)[0])) {
            violations.add("the effect of " + key + " happened, but its start is not in the log");
          }
        });
  }
}
