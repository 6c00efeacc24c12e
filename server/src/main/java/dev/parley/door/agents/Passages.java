package dev.parley.door.agents;

import dev.parley.door.Pages;
import dev.parley.door.Stride;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.Timestamps;
import dev.parley.socket.Volley;
import java.util.ArrayList;
import java.util.List;

/// Caches encoded messages of agents, so that they are read and encoded once for all subscribers at
/// the same position.
///
/// The first subscriber reads the log and encodes a batch; the others find it in the cache.
/// Subscribers do not wait for each other: each sends at its own pace, and reads the log itself if
/// the batch was evicted. For many threads.
final class Passages {

  /// The name of the event that sends a message.
  static final String MESSAGE = "agent:message";

  private static final long WEIGHT_MAX = 16L << 20;

  /// Each text is stored as JSON and in two encodings.
  private static final int COPIES = 3;

  private static final int SMALL = 256;

  /// The number of characters up to which messages are sent together.
  private static final int TOGETHER_MAX = 48 * 1024;

  private final EventLog log;
  private final MessageForm form;
  private final Pages<Key, Passage> pages = new Pages<>(WEIGHT_MAX, Passages::weight);

  /// The start of a batch, and whether it includes the lines of programs.
  private record Key(Telling.Place place, boolean raw) {}

  Passages(EventLog log, MessageForm form) {
    this.log = log;
    this.form = form;
  }

  /// The batch after `place`; empty at the end of the log. `raw` includes the lines of programs.
  Passage after(Telling.Place place, Stride stride, boolean raw) throws InterruptedException {
    return pages.get(new Key(place, raw), () -> read(place, stride, raw));
  }

  /// Removes a context from the cache.
  void forget(ContextId context) {
    pages.forget(key -> key.place().context().equals(context));
  }

  private static long weight(Passage passage) {
    var weight = (long) SMALL * passage.entries();
    for (var part : passage.parts()) {
      if (part instanceof Passage.Part.Said(var volley, var _)) {
        weight +=
            volley.arguments().stream().mapToLong(text -> (long) COPIES * text.length()).sum();
      }
    }
    return weight;
  }

  private Passage read(Telling.Place place, Stride stride, boolean raw) {
    var telling = new Telling(log, stride, place);
    var parts = new ArrayList<Passage.Part>();
    var together = new ArrayList<String>();
    var size = 0;
    var last = place.number();
    var steps = telling.read();
    for (var step : steps) {
      if (step.message()) {
        var text = argument(place.agent(), raw ? step : step.withoutRaw());
        if (size + text.length() > TOGETHER_MAX) {
          say(together, last, parts);
          size = 0;
        }
        together.add(text);
        size += text.length();
        last = step.number();
      }
      if (concerns(place.agent(), step.entry())) {
        say(together, last, parts);
        size = 0;
        parts.add(new Passage.Part.Happened(step.entry(), step.number()));
      }
    }
    say(together, last, parts);
    return new Passage(steps.size(), parts, telling.place());
  }

  private static void say(List<String> together, long last, List<Passage.Part> parts) {
    if (!together.isEmpty()) {
      parts.add(new Passage.Part.Said(new Volley(MESSAGE, together), last));
      together.clear();
    }
  }

  private static boolean concerns(TaskId agent, Entry entry) {
    return agent.equals(entry.taskId())
        && (entry.event() instanceof TaskStatus
            || entry.event() instanceof TaskComplete
            || entry.event() instanceof ErrorReported);
  }

  private String argument(TaskId agent, Telling.Step step) {
    var argument =
        Json.object()
            .put("agentId", agent.value())
            .put("timestamp", Timestamps.format(step.entry().timestamp()));
    argument.set("message", form.json(agent, step));
    return Json.mapper().writeValueAsString(argument);
  }
}
