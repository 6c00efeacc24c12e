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
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Folds log entries into AG-UI events, beginning at a position where no task was running.
///
/// A run lasts until its root task ends, or until the task and all its subtasks wait for a person.
/// After an answer, another run begins. For one thread.
final class AgUiProjection {

  private final @Nullable TaskId only;
  private final AgUiEventMapper mapper;
  private final RunBoundaries boundaries;
  private @Nullable ThreadTranscript transcript;
  private final Map<TaskId, AgUiRunState> turns = new LinkedHashMap<>();
  private final Map<TaskId, Message> pendingMessages = new LinkedHashMap<>();
  private @Nullable AgUiRunState current;
  private @Nullable ObjectNode end;
  private @Nullable ContextRewound rewound;

  /// @param only the only root task to include, or null for all
  /// @param transcript records the events for snapshots, or null
  AgUiProjection(ContextId thread, @Nullable TaskId only, @Nullable ThreadTranscript transcript) {
    this.only = only;
    this.transcript = transcript;
    this.mapper = new AgUiEventMapper(thread);
    this.boundaries = new RunBoundaries(thread, mapper);
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
      if (transcript != null) {
        transcript.apply(event, entry.position().seq());
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
        .filter(run -> run.phase == AgUiRunState.RunPhase.QUEUED)
        // While a run waits for a person, queued runs do not start.
        .filter(_ -> current == null)
        .toList();
  }

  /// Snapshots for a new reader: messages, state, and the open items of the active run.
  List<ObjectNode> snapshots(ObjectNode state, List<CorrectedMessage> corrected) {
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
        if (transcript != null) {
          transcript.rewind(entry.position().seq(), back.toSeq());
        }
        current = null;
        turns.clear();
      }
      case StateUpdated(var delta, _) -> {
        return whileRunning(run -> run.encoder.add(mapper.state(delta, null)));
      }
      case MessageEvent _, ContextEvent _ -> {
        return whileRunning(run -> run.encoder.add(custom(entry, null)));
      }
      default -> {} // All other events belong to a task.
    }
    return List.of();
  }

  private List<ObjectNode> whileRunning(Consumer<AgUiRunState> tell) {
    var run = current;
    if (run == null || run.phase != AgUiRunState.RunPhase.RUNNING) {
      return List.of();
    }
    tell.accept(run);
    return run.encoder.drain();
  }

  private List<ObjectNode> message(Entry entry, Message message) {
    var facts = message.facts();
    var task = facts.taskId().orElse(null);
    if (task == null) {
      addToTranscript(entry, message);
      return List.of();
    }
    var run = turns.get(task);
    if (run == null || !facts.steers()) {
      pendingMessages.put(task, message);
      return List.of();
    }
    var begins = run.phase == AgUiRunState.RunPhase.PAUSED;
    if (begins) {
      boundaries.resume(run, facts.runId().orElse(null), List.of(ContentParts.message(message)));
      end = null;
    }
    run.tree.apply(entry);
    if (!begins && run.phase == AgUiRunState.RunPhase.RUNNING) {
      run.encoder.add(custom(entry, null));
      addToTranscript(entry, message);
    }
    return run.encoder.drain();
  }

  private void addToTranscript(Entry entry, Message message) {
    if (transcript != null) {
      transcript.add(ContentParts.message(message), entry.position().seq());
    }
  }

  /// Handles an entry of a task.
  private List<ObjectNode> taskEntry(Origin origin, Entry entry) {
    if (only != null && !only.equals(origin.rootTaskId())) {
      return List.of();
    }
    if (entry.event() instanceof TaskCreated created && origin.parentTaskId() == null) {
      var run =
          new AgUiRunState(
              origin.taskId(), origin.agentId(), created, pendingMessages.remove(origin.taskId()));
      turns.put(origin.taskId(), run);
    }
    var run = turns.get(origin.rootTaskId());
    if (run == null) {
      return List.of();
    }
    if (!startRun(run, entry)) {
      return List.of();
    }
    run.tree.apply(entry);
    encode(run, origin, entry);
    if (mayPause(entry)
        && run.phase == AgUiRunState.RunPhase.RUNNING
        && run.tree.treeWaitsForPerson(run.root)) {
      end = boundaries.pause(run);
    }
    return run.encoder.drain();
  }

  /// Begins the run of an entry, if needed. Returns false if the entry does not belong to a run
  /// yet.
  private boolean startRun(AgUiRunState run, Entry entry) {
    return switch (run.phase) {
      case RUNNING -> true;
      case ENDED -> false;
      case PAUSED -> {
        var answer = answer(entry);
        boundaries.resume(run, answer.runId(), answer.messages());
        end = null;
        yield true;
      }
      case QUEUED -> {
        var status = entry.event() instanceof TaskStatus(var next, _, _) ? next : null;
        if (status == null || status == TaskState.SUBMITTED) {
          run.tree.apply(entry);
          yield false;
        }
        if (current != null && current.phase != AgUiRunState.RunPhase.ENDED) {
          // It ended before it started, while another run is active.
          run.phase = AgUiRunState.RunPhase.ENDED;
          turns.remove(run.root);
          yield false;
        }
        current = run;
        boundaries.begin(run, rewound);
        rewound = null;
        end = null;
        yield true;
      }
    };
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

  private void encode(AgUiRunState run, Origin origin, Entry entry) {
    var owner = owner(run, origin);
    if (!(entry.event() instanceof ThoughtEvent)) {
      run.encoder.endReasoning(origin.taskId());
    }
    switch (entry.event()) {
      case TaskEvent event -> task(run, origin, entry, event);
      case ContentEvent event -> mapper.content(run, origin, owner, event);
      case ThoughtEvent event -> mapper.thought(run, origin.taskId(), owner, event);
      case ToolEvent event -> mapper.tool(run, owner, event);
      case ArtifactEvent event -> mapper.artifact(run, owner, event);
      case InputReceived received -> {
        ResumeAnswers.toolCallId(received).ifPresent(run.clientResults::add);
        run.encoder.add(custom(entry, owner));
      }
      case InputEvent _, AuthEvent _ -> run.encoder.add(custom(entry, owner));
      case Usage usage -> run.usage.add(usage);
      case ErrorReported error when error.scope() == ErrorScope.TASK -> {} // Part of the end.
      case ReportEvent _ -> run.encoder.add(custom(entry, owner));
      case Message message -> answer(run, message);
      case MessageEvent _, ContextEvent _ -> run.encoder.add(custom(entry, owner));
      case SubtaskEvent _ -> {} // The events of the subtask itself are shown.
    }
  }

  /// The sub-agent that an entry belongs to; null if it belongs to the answering agent.
  private static @Nullable String owner(AgUiRunState run, Origin origin) {
    return run.tree.isAnswer(origin) ? null : origin.taskId().value();
  }

  private void task(AgUiRunState run, Origin origin, Entry entry, TaskEvent event) {
    var root = origin.taskId().equals(run.root);
    switch (event) {
      case TaskCreated created when !root ->
          mapper.created(run, origin, created, owner(run, origin));
      case TaskStatus(var status, _, _)
          when status == TaskState.FAILED || status == TaskState.CANCELED -> {
        if (root) {
          endRun(run, status, null);
        } else {
          mapper.failed(run, origin.taskId(), status);
        }
      }
      case TaskStatus status when status.facts().routing().isPresent() -> {
        var routing = status.facts().routing().get();
        run.delegatesAll = routing.delegatesToOneAgent();
        run.encoder.add(AgUiEvent.custom(null, "routing", routing.json()));
      }
      case TaskComplete complete -> {
        if (root) {
          endRun(run, TaskState.COMPLETED, complete);
        } else {
          mapper.completed(run, origin.taskId(), complete.content());
        }
      }
      case TaskEvent.CancelRequested _ -> run.encoder.add(custom(entry, owner(run, origin)));
      default -> {} // Other changes of state have no AG-UI event.
    }
  }

  /// Adds the answer of a root task, if its text was not streamed.
  private static void answer(AgUiRunState run, Message message) {
    if (message.role() == Role.ASSISTANT && !run.hasText && !message.content().isBlank()) {
      run.encoder.message(message.messageId().value(), message.content());
    }
  }

  private void endRun(AgUiRunState run, TaskState state, @Nullable TaskComplete complete) {
    turns.remove(run.root);
    current = null;
    end = boundaries.ended(run, state, complete);
  }

  /// The entry as a custom event, where the protocol has no event.
  private static ObjectNode custom(Entry entry, @Nullable String owner) {
    JsonNode value = Json.mapper().readTree(EventJson.bytes(entry));
    return AgUiEvent.custom(owner, entry.kind().wire(), value);
  }
}
