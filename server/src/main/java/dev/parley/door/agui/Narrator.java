package dev.parley.door.agui;

import dev.parley.door.Voice;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.ContentEvent;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent;
import dev.parley.protocol.ToolEvent;
import dev.parley.view.CorrectedMessage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Folds log entries into AG-UI events, beginning at a position where no task was running.
///
/// A run lasts until its root task ends, or until the task and all its subtasks wait for a person.
/// After an answer, another run begins. For one thread.
final class Narrator {

  /// The scope of a projection.
  ///
  /// @param only the only root task to include, or null for all
  /// @param speaks whether an entry is output of the answering agent, not of a sub-agent
  record Plot(ContextId thread, @Nullable TaskId only, Predicate<Entry> speaks) {}

  private final Plot plot;
  private final Deeds deeds;
  private final Bounds bounds;
  private @Nullable Transcript transcript;
  private final Map<TaskId, Turn> turns = new LinkedHashMap<>();
  private final Map<TaskId, Message> said = new LinkedHashMap<>();
  private @Nullable Turn current;
  private @Nullable ObjectNode end;
  private @Nullable ContextRewound rewound;

  /// @param transcript records the events for snapshots, or null
  Narrator(Plot plot, @Nullable Transcript transcript) {
    this.plot = plot;
    this.transcript = transcript;
    this.deeds = new Deeds(plot.thread());
    this.bounds = new Bounds(plot.thread(), deeds);
  }

  /// Applies an entry and returns its AG-UI events, in order.
  List<ObjectNode> of(Entry entry) {
    if (entry.event().internal()) {
      return List.of();
    }
    var origin = entry.origin();
    var events = origin == null ? outside(entry) : inside(origin, entry);
    for (var event : events) {
      event.put("timestamp", entry.timestamp().toEpochMilli());
      if (transcript != null) {
        transcript.apply(event, entry.position().seq());
      }
    }
    return events;
  }

  /// The root task that runs or is paused, if any.
  @Nullable Turn current() {
    return current;
  }

  /// True if no run is active and none is queued.
  boolean idle() {
    return (current == null || current.phase == Turn.Phase.RESTING) && queued().isEmpty();
  }

  private List<Turn> queued() {
    return turns.values().stream()
        .filter(turn -> turn.phase == Turn.Phase.QUEUED)
        // While a run waits for a person, queued runs do not start.
        .filter(_ -> current == null)
        .toList();
  }

  /// Snapshots for a new reader: messages, state, and the open items of the active run.
  List<ObjectNode> recap(ObjectNode state, List<CorrectedMessage> corrected) {
    var events = new ArrayList<ObjectNode>();
    var taken = transcript;
    var started = taken == null ? null : taken.started();
    if (taken == null || started == null) {
      return events;
    }
    // It is used only once, and may be large.
    transcript = null;
    var begin = started.deepCopy();
    begin.remove("input");
    events.add(begin);
    var messages = AgUiEvent.MESSAGES_SNAPSHOT.json();
    messages.set("messages", taken.json(corrected));
    events.add(messages);
    var all = state.deepCopy();
    all.setAll(taken.state());
    if (!all.isEmpty()) {
      var snapshot = AgUiEvent.STATE_SNAPSHOT.json();
      snapshot.set("snapshot", all);
      events.add(snapshot);
    }
    if (current != null && current.phase == Turn.Phase.RUNNING) {
      events.addAll(current.scene.openers());
    } else if (end != null) {
      events.add(corrected(end.deepCopy(), corrected));
    }
    return events;
  }

  /// Applies corrections of the answer to the final event of a run.
  private static ObjectNode corrected(ObjectNode end, List<CorrectedMessage> corrected) {
    var early = end.get("result") instanceof ObjectNode object ? object : null;
    var holder = early == null ? end : early;
    var field = early == null ? "result" : Bounds.RESULT_TEXT;
    var result = holder.path(field).asString("");
    for (var message : corrected) {
      if (message.before().contains(result)) {
        holder.put(field, message.deleted() ? "" : message.now());
      }
    }
    return end;
  }

  /// Handles an entry of the context that belongs to no task.
  private List<ObjectNode> outside(Entry entry) {
    switch (entry.event()) {
      case Message message -> {
        return message(entry, message);
      }
      case ContextRewound back -> {
        rewound = back;
        if (transcript != null) {
          transcript.rewind(entry.position().seq(), back.toSeq());
        }
        current = null;
        turns.clear();
      }
      case StateUpdated(var delta, _) -> {
        return running(turn -> turn.scene.add(deeds.state(delta, null)));
      }
      case MessageEvent _, ContextEvent _ -> {
        return running(turn -> turn.scene.add(custom(entry, null)));
      }
      default -> {} // All other events belong to a task.
    }
    return List.of();
  }

  private List<ObjectNode> running(Consumer<Turn> tell) {
    var turn = current;
    if (turn == null || turn.phase != Turn.Phase.RUNNING) {
      return List.of();
    }
    tell.accept(turn);
    return turn.scene.take();
  }

  private List<ObjectNode> message(Entry entry, Message message) {
    var metadata = message.metadata() == null ? Json.object() : message.metadata();
    var task = metadata.path("taskId").asString("");
    if (task.isEmpty()) {
      note(entry, message);
      return List.of();
    }
    var turn = turns.get(new TaskId(task));
    if (turn == null || !metadata.path("steer").asBoolean(false)) {
      said.put(new TaskId(task), message);
      return List.of();
    }
    var begins = turn.phase == Turn.Phase.RESTING;
    if (begins) {
      bounds.resume(turn, Turn.runId(metadata), List.of(ContentParts.message(message)));
      end = null;
    }
    turn.tree.hear(entry);
    if (!begins && turn.phase == Turn.Phase.RUNNING) {
      turn.scene.add(custom(entry, null));
      note(entry, message);
    }
    return turn.scene.take();
  }

  private void note(Entry entry, Message message) {
    if (transcript != null) {
      transcript.add(ContentParts.message(message), entry.position().seq());
    }
  }

  /// Handles an entry of a task.
  private List<ObjectNode> inside(Origin origin, Entry entry) {
    var only = plot.only();
    if (only != null && !only.equals(origin.rootTaskId())) {
      return List.of();
    }
    if (entry.event() instanceof TaskCreated created && origin.parentTaskId() == null) {
      var turn = new Turn(origin.taskId(), origin.agentId(), created, said.remove(origin.taskId()));
      turns.put(origin.taskId(), turn);
    }
    var turn = turns.get(origin.rootTaskId());
    if (turn == null) {
      return List.of();
    }
    if (!wakes(turn, entry)) {
      return List.of();
    }
    turn.tree.apply(origin, entry);
    tell(turn, origin, entry);
    if (rests(entry) && turn.phase == Turn.Phase.RUNNING && turn.tree.rests(turn.root)) {
      end = bounds.pause(turn);
    }
    return turn.scene.take();
  }

  /// Begins the run of an entry, if needed. Returns false if the entry does not belong to a run
  /// yet.
  private boolean wakes(Turn turn, Entry entry) {
    return switch (turn.phase) {
      case RUNNING -> true;
      case ENDED -> false;
      case RESTING -> {
        var answer = answer(entry);
        bounds.resume(turn, answer.runId(), answer.messages());
        end = null;
        yield true;
      }
      case QUEUED -> {
        var status = entry.event() instanceof TaskStatus(var next, _, _) ? next : null;
        if (entry.event() instanceof ErrorReported error) {
          turn.errors.put(turn.root, error);
        }
        if (status == null || status == TaskState.SUBMITTED) {
          turn.tree.apply(origin(entry), entry);
          yield false;
        }
        if (current != null && current.phase != Turn.Phase.ENDED) {
          // It ended before it started, while another run is active.
          turn.phase = Turn.Phase.ENDED;
          turns.remove(turn.root);
          yield false;
        }
        current = turn;
        bounds.begin(turn, rewound);
        rewound = null;
        end = null;
        yield true;
      }
    };
  }

  private static Origin origin(Entry entry) {
    var origin = entry.origin();
    if (origin == null) {
      throw new IllegalStateException("the entry at " + entry.position() + " has no task");
    }
    return origin;
  }

  /// The run id and the messages that the client sent with an answer.
  private record Answered(@Nullable String runId, List<ObjectNode> messages) {}

  private static Answered answer(Entry entry) {
    return switch (entry.event()) {
      case InputReceived received ->
          new Answered(
              Turn.runId(received.metadata()), Resumes.message(received).stream().toList());
      case InputLapsed lapsed -> new Answered(Resumes.runId(lapsed.reason()), List.of());
      case AuthEvent.AuthLapsed lapsed -> new Answered(Resumes.runId(lapsed.reason()), List.of());
      default -> new Answered(null, List.of()); // Another API resumed the task.
    };
  }

  /// True if all tasks may be waiting after this entry.
  private static boolean rests(Entry entry) {
    return entry.event() instanceof SubtaskComplete
        || (entry.event() instanceof TaskStatus(var status, _, _) && status.waiting());
  }

  private void tell(Turn turn, Origin origin, Entry entry) {
    var owner = owner(origin, entry);
    if (!(entry.event() instanceof ThoughtEvent)) {
      turn.scene.rest(origin.taskId());
    }
    switch (entry.event()) {
      case TaskEvent event -> task(turn, origin, entry, event);
      case ContentEvent event -> deeds.content(turn, origin, owner, event);
      case ThoughtEvent event -> deeds.thought(turn, origin.taskId(), owner, event);
      case ToolEvent event -> deeds.tool(turn, owner, event);
      case ArtifactEvent event -> deeds.artifact(turn, owner, event);
      case InputReceived received -> {
        Resumes.callOf(received).ifPresent(turn.brought::add);
        turn.scene.add(custom(entry, owner));
      }
      case InputEvent _, AuthEvent _ -> turn.scene.add(custom(entry, owner));
      case Usage usage -> turn.spent.add(usage);
      case ErrorReported error when error.scope() == ErrorScope.TASK ->
          turn.errors.put(origin.taskId(), error);
      case ReportEvent _ -> turn.scene.add(custom(entry, owner));
      case Message message -> answer(turn, message);
      case MessageEvent _, ContextEvent _ -> turn.scene.add(custom(entry, owner));
      case SubtaskEvent _ -> {} // The events of the subtask itself are shown.
    }
  }

  private @Nullable String owner(Origin origin, Entry entry) {
    return plot.speaks().test(entry) ? null : origin.taskId().value();
  }

  private void task(Turn turn, Origin origin, Entry entry, TaskEvent event) {
    var root = origin.taskId().equals(turn.root);
    switch (event) {
      case TaskCreated created when !root ->
          deeds.created(turn, origin, created, owner(origin, entry));
      case TaskStatus(var status, _, _)
          when status == TaskState.FAILED || status == TaskState.CANCELED -> {
        if (root) {
          ended(turn, status, null);
        } else {
          deeds.failed(turn, origin.taskId(), status);
        }
      }
      case TaskStatus(_, _, var metadata) when metadata != null && metadata.has("routing") -> {
        var routing = metadata.get("routing");
        turn.handsOver = Voice.handsOver(routing.path("strategy").asString(""));
        turn.scene.add(AgUiEvent.custom(null, "routing", routing));
      }
      case TaskComplete complete -> {
        if (root) {
          ended(turn, TaskState.COMPLETED, complete);
        } else {
          deeds.completed(turn, origin.taskId(), complete.content());
        }
      }
      case TaskEvent.CancelRequested _ -> turn.scene.add(custom(entry, owner(origin, entry)));
      default -> {} // Other changes of state have no AG-UI event.
    }
  }

  /// Adds the answer of a root task, if its text was not streamed.
  private static void answer(Turn turn, Message message) {
    if (message.role() == Role.ASSISTANT && !turn.spoke && !message.content().isBlank()) {
      turn.scene.message(message.messageId().value(), message.content());
    }
  }

  private void ended(Turn turn, TaskState state, @Nullable TaskComplete complete) {
    turns.remove(turn.root);
    current = null;
    end = bounds.ended(turn, state, complete);
  }

  /// The entry as a custom event, where the protocol has no event.
  private static ObjectNode custom(Entry entry, @Nullable String owner) {
    JsonNode value = Json.mapper().readTree(EventJson.bytes(entry));
    return AgUiEvent.custom(owner, entry.event().kind().wire(), value);
  }
}
