package dev.parley.api.agui;

import dev.parley.projection.CorrectedMessage;
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
final class AgUiProjection {

  /// The scope of a projection.
  ///
  /// @param only the only root task to include, or null for all
  /// @param speaks whether an entry is output of the answering agent, not of a sub-agent
  record AgUiScope(ContextId thread, @Nullable TaskId only, Predicate<Entry> speaks) {}

  private final AgUiScope scope;
  private final AgUiEventMapper mapper;
  private final RunBoundaries boundaries;
  private @Nullable ThreadTranscript threadTranscript;
  private final Map<TaskId, AgUiRunState> turns = new LinkedHashMap<>();
  private final Map<TaskId, Message> pendingMessages = new LinkedHashMap<>();
  private @Nullable AgUiRunState current;
  private @Nullable ObjectNode end;
  private @Nullable ContextRewound rewound;

  /// @param threadTranscript records the events for snapshots, or null
  AgUiProjection(AgUiScope agUiScope, @Nullable ThreadTranscript threadTranscript) {
    this.scope = agUiScope;
    this.threadTranscript = threadTranscript;
    this.mapper = new AgUiEventMapper(agUiScope.thread());
    this.boundaries = new RunBoundaries(agUiScope.thread(), mapper);
  }

  /// Applies an entry and returns its AG-UI events, in order.
  List<ObjectNode> apply(Entry entry) {
    if (entry.event().internal()) {
      return List.of();
    }
    var origin = entry.origin();
    var events = origin == null ? contextEvent(entry) : taskEntry(origin, entry);
    for (var event : events) {
      event.put("timestamp", entry.timestamp().toEpochMilli());
      if (threadTranscript != null) {
        threadTranscript.apply(event, entry.position().seq());
      }
    }
    return events;
  }

  /// The root task that runs or is paused, if any.
  @Nullable AgUiRunState current() {
    return current;
  }

  /// True if no run is active and none is queued.
  boolean idle() {
    return (current == null || current.phase == AgUiRunState.RunPhase.PAUSED) && queued().isEmpty();
  }

  private List<AgUiRunState> queued() {
    return turns.values().stream()
        .filter(agUiRunState -> agUiRunState.phase == AgUiRunState.RunPhase.QUEUED)
        // While a run waits for a person, queued runs do not start.
        .filter(_ -> current == null)
        .toList();
  }

  /// Snapshots for a new reader: messages, state, and the open items of the active run.
  List<ObjectNode> snapshots(ObjectNode state, List<CorrectedMessage> corrected) {
    var events = new ArrayList<ObjectNode>();
    var taken = threadTranscript;
    var started = taken == null ? null : taken.started();
    if (taken == null || started == null) {
      return events;
    }
    // It is used only once, and may be large.
    threadTranscript = null;
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
    if (current != null && current.phase == AgUiRunState.RunPhase.RUNNING) {
      events.addAll(current.encoder.openingEvents());
    } else if (end != null) {
      events.add(corrected(end.deepCopy(), corrected));
    }
    return events;
  }

  /// Applies corrections of the answer to the final event of a run.
  private static ObjectNode corrected(ObjectNode end, List<CorrectedMessage> corrected) {
    var early = end.get("result") instanceof ObjectNode object ? object : null;
    var holder = early == null ? end : early;
    var field = early == null ? "result" : RunBoundaries.RESULT_TEXT;
    var result = holder.path(field).asString("");
    for (var message : corrected) {
      if (message.before().contains(result)) {
        holder.put(field, message.deleted() ? "" : message.now());
      }
    }
    return end;
  }

  /// Handles an entry of the context that belongs to no task.
  private List<ObjectNode> contextEvent(Entry entry) {
    switch (entry.event()) {
      case Message message -> {
        return message(entry, message);
      }
      case ContextRewound back -> {
        rewound = back;
        if (threadTranscript != null) {
          threadTranscript.rewind(entry.position().seq(), back.toSeq());
        }
        current = null;
        turns.clear();
      }
      case StateUpdated(var delta, _) -> {
        return whileRunning(agUiRunState -> agUiRunState.encoder.add(mapper.state(delta, null)));
      }
      case MessageEvent _, ContextEvent _ -> {
        return whileRunning(agUiRunState -> agUiRunState.encoder.add(custom(entry, null)));
      }
      default -> {} // All other events belong to a task.
    }
    return List.of();
  }

  private List<ObjectNode> whileRunning(Consumer<AgUiRunState> tell) {
    var agUiRunState = current;
    if (agUiRunState == null || agUiRunState.phase != AgUiRunState.RunPhase.RUNNING) {
      return List.of();
    }
    tell.accept(agUiRunState);
    return agUiRunState.encoder.drain();
  }

  private List<ObjectNode> message(Entry entry, Message message) {
    var facts = message.facts();
    var task = facts.taskId().orElse(null);
    if (task == null) {
      addToTranscript(entry, message);
      return List.of();
    }
    var agUiRunState = turns.get(task);
    if (agUiRunState == null || !facts.steers()) {
      pendingMessages.put(task, message);
      return List.of();
    }
    var begins = agUiRunState.phase == AgUiRunState.RunPhase.PAUSED;
    if (begins) {
      boundaries.resume(
          agUiRunState, facts.runId().orElse(null), List.of(ContentParts.message(message)));
      end = null;
    }
    agUiRunState.tree.applyMessage(entry);
    if (!begins && agUiRunState.phase == AgUiRunState.RunPhase.RUNNING) {
      agUiRunState.encoder.add(custom(entry, null));
      addToTranscript(entry, message);
    }
    return agUiRunState.encoder.drain();
  }

  private void addToTranscript(Entry entry, Message message) {
    if (threadTranscript != null) {
      threadTranscript.add(ContentParts.message(message), entry.position().seq());
    }
  }

  /// Handles an entry of a task.
  private List<ObjectNode> taskEntry(Origin origin, Entry entry) {
    var only = scope.only();
    if (only != null && !only.equals(origin.rootTaskId())) {
      return List.of();
    }
    if (entry.event() instanceof TaskCreated created && origin.parentTaskId() == null) {
      var agUiRunState =
          new AgUiRunState(
              origin.taskId(), origin.agentId(), created, pendingMessages.remove(origin.taskId()));
      turns.put(origin.taskId(), agUiRunState);
    }
    var agUiRunState = turns.get(origin.rootTaskId());
    if (agUiRunState == null) {
      return List.of();
    }
    if (!startRun(agUiRunState, entry)) {
      return List.of();
    }
    agUiRunState.tree.apply(origin, entry);
    encode(agUiRunState, origin, entry);
    if (mayPause(entry)
        && agUiRunState.phase == AgUiRunState.RunPhase.RUNNING
        && agUiRunState.tree.waitsForPerson(agUiRunState.root)) {
      end = boundaries.pause(agUiRunState);
    }
    return agUiRunState.encoder.drain();
  }

  /// Begins the run of an entry, if needed. Returns false if the entry does not belong to a run
  /// yet.
  private boolean startRun(AgUiRunState agUiRunState, Entry entry) {
    return switch (agUiRunState.phase) {
      case RUNNING -> true;
      case ENDED -> false;
      case PAUSED -> {
        var answer = answer(entry);
        boundaries.resume(agUiRunState, answer.runId(), answer.messages());
        end = null;
        yield true;
      }
      case QUEUED -> {
        var status = entry.event() instanceof TaskStatus(var next, _, _) ? next : null;
        if (entry.event() instanceof ErrorReported error) {
          agUiRunState.errors.put(agUiRunState.root, error);
        }
        if (status == null || status == TaskState.SUBMITTED) {
          agUiRunState.tree.apply(origin(entry), entry);
          yield false;
        }
        if (current != null && current.phase != AgUiRunState.RunPhase.ENDED) {
          // It ended before it started, while another run is active.
          agUiRunState.phase = AgUiRunState.RunPhase.ENDED;
          turns.remove(agUiRunState.root);
          yield false;
        }
        current = agUiRunState;
        boundaries.begin(agUiRunState, rewound);
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
              received.facts().runId().orElse(null),
              ResumeAnswers.message(received).stream().toList());
      case InputLapsed lapsed -> new Answered(ResumeAnswers.runId(lapsed.reason()), List.of());
      case AuthEvent.AuthLapsed lapsed ->
          new Answered(ResumeAnswers.runId(lapsed.reason()), List.of());
      default -> new Answered(null, List.of()); // Another API resumed the task.
    };
  }

  /// True if all tasks may be waiting after this entry.
  private static boolean mayPause(Entry entry) {
    return entry.event() instanceof SubtaskComplete
        || (entry.event() instanceof TaskStatus(var status, _, _) && status.waiting());
  }

  private void encode(AgUiRunState agUiRunState, Origin origin, Entry entry) {
    var owner = owner(origin, entry);
    if (!(entry.event() instanceof ThoughtEvent)) {
      agUiRunState.encoder.endReasoning(origin.taskId());
    }
    switch (entry.event()) {
      case TaskEvent event -> task(agUiRunState, origin, entry, event);
      case ContentEvent event -> mapper.content(agUiRunState, origin, owner, event);
      case ThoughtEvent event -> mapper.thought(agUiRunState, origin.taskId(), owner, event);
      case ToolEvent event -> mapper.tool(agUiRunState, owner, event);
      case ArtifactEvent event -> mapper.artifact(agUiRunState, owner, event);
      case InputReceived received -> {
        ResumeAnswers.toolCallId(received).ifPresent(agUiRunState.clientResults::add);
        agUiRunState.encoder.add(custom(entry, owner));
      }
      case InputEvent _, AuthEvent _ -> agUiRunState.encoder.add(custom(entry, owner));
      case Usage usage -> agUiRunState.usage.add(usage);
      case ErrorReported error when error.scope() == ErrorScope.TASK ->
          agUiRunState.errors.put(origin.taskId(), error);
      case ReportEvent _ -> agUiRunState.encoder.add(custom(entry, owner));
      case Message message -> answer(agUiRunState, message);
      case MessageEvent _, ContextEvent _ -> agUiRunState.encoder.add(custom(entry, owner));
      case SubtaskEvent _ -> {} // The events of the subtask itself are shown.
    }
  }

  private @Nullable String owner(Origin origin, Entry entry) {
    return scope.speaks().test(entry) ? null : origin.taskId().value();
  }

  private void task(AgUiRunState agUiRunState, Origin origin, Entry entry, TaskEvent event) {
    var root = origin.taskId().equals(agUiRunState.root);
    switch (event) {
      case TaskCreated created when !root ->
          mapper.created(agUiRunState, origin, created, owner(origin, entry));
      case TaskStatus(var status, _, _)
          when status == TaskState.FAILED || status == TaskState.CANCELED -> {
        if (root) {
          endRun(agUiRunState, status, null);
        } else {
          mapper.failed(agUiRunState, origin.taskId(), status);
        }
      }
      case TaskStatus status when status.facts().routing().isPresent() -> {
        var routing = status.facts().routing().get();
        agUiRunState.delegatesAll = routing.delegatesToOneAgent();
        agUiRunState.encoder.add(AgUiEvent.custom(null, "routing", routing.json()));
      }
      case TaskComplete complete -> {
        if (root) {
          endRun(agUiRunState, TaskState.COMPLETED, complete);
        } else {
          mapper.completed(agUiRunState, origin.taskId(), complete.content());
        }
      }
      case TaskEvent.CancelRequested _ ->
          agUiRunState.encoder.add(custom(entry, owner(origin, entry)));
      default -> {} // Other changes of state have no AG-UI event.
    }
  }

  /// Adds the answer of a root task, if its text was not streamed.
  private static void answer(AgUiRunState agUiRunState, Message message) {
    if (message.role() == Role.ASSISTANT && !agUiRunState.hasText && !message.content().isBlank()) {
      agUiRunState.encoder.message(message.messageId().value(), message.content());
    }
  }

  private void endRun(AgUiRunState agUiRunState, TaskState state, @Nullable TaskComplete complete) {
    turns.remove(agUiRunState.root);
    current = null;
    end = boundaries.ended(agUiRunState, state, complete);
  }

  /// The entry as a custom event, where the protocol has no event.
  private static ObjectNode custom(Entry entry, @Nullable String owner) {
    JsonNode value = Json.mapper().readTree(EventJson.bytes(entry));
    return AgUiEvent.custom(owner, entry.event().kind().wire(), value);
  }
}
