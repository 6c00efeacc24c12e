package dev.parley.api.chat;

import dev.parley.api.chat.AgentEvent.AgentEventPayload;
import dev.parley.api.chat.AgentEvent.ArtifactReference;
import dev.parley.api.chat.AgentEvent.CancelledPayload;
import dev.parley.api.chat.AgentEvent.CompletedPayload;
import dev.parley.api.chat.AgentEvent.FailedPayload;
import dev.parley.api.chat.AgentEvent.OutputPayload;
import dev.parley.api.chat.AgentEvent.StartedPayload;
import dev.parley.api.chat.AgentEvent.SubagentStartPayload;
import dev.parley.api.chat.AgentEvent.SubagentStopPayload;
import dev.parley.api.chat.AgentEvent.ToolCallPayload;
import dev.parley.api.chat.AgentEvent.ToolResultPayload;
import dev.parley.api.chat.ChatTaskResults.ChatStatus;
import dev.parley.api.chat.ChatTaskResults.TaskCosts;
import dev.parley.log.EventLog;
import dev.parley.projection.PrecedingEntries;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.EarlyEnd;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskDeleted;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskEvent.TaskStored;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.StringNode;

/// Maps log entries to agent events: one for each entry that the chat API shows, none for the
/// others.
///
/// The result depends only on the log before the entry, and on the names of agents.
final class AgentEventMapper {

  /// The agent id of events that no agent caused.
  static final String SYSTEM = "system";

  private final PrecedingEvents past;
  private final AgentNames names;

  AgentEventMapper(PrecedingEvents past, AgentNames names) {
    this.past = past;
    this.names = names;
  }

  /// The agent event of an entry, if it has one.
  Optional<AgentEvent> of(Entry entry) {
    var origin = entry.origin();
    if (origin == null || entry.event().internal()) {
      return Optional.empty();
    }
    return payload(entry, origin).map(payload -> event(entry, origin, payload));
  }

  private static AgentEvent event(Entry entry, Origin origin, AgentEventPayload payload) {
    var agent = payload instanceof CancelledPayload ? SYSTEM : origin.agentId().value();
    return new AgentEvent(entry, agent, payload);
  }

  private Optional<? extends AgentEventPayload> payload(Entry entry, Origin origin) {
    return switch (entry.event()) {
      case TaskEvent event -> task(entry, origin, event);
      case ContentDelta delta -> Optional.of(piece(entry, delta));
      case ContentComplete complete -> complete(entry, complete);
      case ToolEvent event -> Optional.of(tool(event));
      case SubtaskCreated created -> Optional.of(start(created));
      case SubtaskComplete complete -> Optional.of(stop(entry, complete));
      case InputEvent event -> Optional.of(ChatProgress.of(entry, event));
      case AuthEvent event -> Optional.of(ChatProgress.of(entry, event));
      case ArtifactEvent event -> ChatProgress.of(entry, event);
      // The chat API has no event for thoughts. Messages and contexts do not belong to a task.
      // Errors and usage are part of the task's last event.
      case ThoughtEvent _, MessageEvent _, ContextEvent _, ReportEvent _ -> Optional.empty();
    };
  }

  private Optional<AgentEventPayload> task(Entry entry, Origin origin, TaskEvent event) {
    return switch (event) {
      case TaskCreated created ->
          Optional.of(
              new StartedPayload(
                  created.prompt() == null ? "" : created.prompt(),
                  names.tools(origin.agentId()),
                  origin.agentId(),
                  names.name(origin.agentId())));
      case TaskStatus status -> status(entry, origin, status);
      case TaskComplete complete -> Optional.of(completed(complete));
      case CancelRequested _ -> Optional.of(ChatProgress.CANCELLING);
      case TaskStored _, TaskDeleted _ -> Optional.empty();
    };
  }

  private Optional<AgentEventPayload> status(Entry entry, Origin origin, TaskStatus status) {
    return switch (status.status()) {
      case SUBMITTED, WORKING, WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK ->
          Optional.of(ChatProgress.of(status));
      // The next event in the same append has more details.
      case COMPLETED -> Optional.empty();
      case FAILED -> Optional.of(failed(entry, status));
      case CANCELED ->
          Optional.of(
              new CancelledPayload(
                  status.facts().started() ? reason(status) : ChatTaskResults.NEVER_STARTED,
                  origin.agentId()));
    };
  }

  private static CompletedPayload completed(TaskComplete complete) {
    var facts = complete.facts();
    var costs = TaskCosts.of(facts);
    var early = facts.earlyEnd().orElse(null);
    return new CompletedPayload(
        complete.content() == null ? "" : complete.content(),
        complete.artifacts() == null
            ? null
            : complete.artifacts().stream().map(ArtifactReference::new).toList(),
        costs.usage(),
        facts.duration().asLong(0),
        costs.costUsd(),
        early,
        early == EarlyEnd.LENGTH ? true : null,
        facts.emptyAnswer() ? true : null);
  }

  private FailedPayload failed(Entry entry, TaskStatus status) {
    return past.error(entry)
        .map(error -> new FailedPayload(error.message(), error.retryable(), error.code()))
        .orElseGet(() -> new FailedPayload(reason(status), false, null));
  }

  private static String reason(TaskStatus status) {
    return status.facts().reason().orElse("");
  }

  private Optional<OutputPayload> complete(Entry entry, ContentComplete complete) {
    var streamed = past.wasStreamed(entry, complete);
    if (!streamed && complete.content().isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new OutputPayload(
            // Clients that join the deltas have the text already, and must not get it twice.
            streamed ? "" : complete.content(),
            false,
            complete.blockId(),
            complete.replaces(),
            complete.finishReason()));
  }

  /// A delta of a block. The first one names the block that it replaces, if the agent was
  /// interrupted and repeats its output.
  private OutputPayload piece(Entry entry, ContentDelta delta) {
    var replaced = delta.index() == 0 ? past.interruptedBlock(entry).orElse(null) : null;
    return new OutputPayload(delta.delta(), true, delta.blockId(), replaced, null);
  }

  private static AgentEventPayload tool(ToolEvent event) {
    return switch (event) {
      case ToolStart start ->
          new ToolCallPayload(start.toolName(), start.arguments(), start.toolCallId());
      case ToolProgress progress -> ChatProgress.of(progress);
      case ToolComplete end ->
          new ToolResultPayload(
              end.toolName(),
              end.result() != null ? end.result() : text(end.error()),
              end.success(),
              end.toolCallId(),
              end.error(),
              end.outcome());
    };
  }

  private static JsonNode text(@Nullable String text) {
    return text == null ? NullNode.getInstance() : StringNode.valueOf(text);
  }

  private SubagentStartPayload start(SubtaskCreated created) {
    var agent = created.agentId();
    return new SubagentStartPayload(
        created.subtaskId(), agent, agent == null ? null : names.name(agent), created.prompt());
  }

  private SubagentStopPayload stop(Entry entry, SubtaskComplete complete) {
    var agent = past.subtaskOrigin(entry, complete.subtaskId()).map(Origin::agentId);
    return new SubagentStopPayload(
        complete.subtaskId(),
        agent.orElse(null),
        agent.map(names::name).orElse(null),
        ChatStatus.of(complete.status(), null),
        complete.result(),
        complete.error());
  }

  /// The names and tools of agents.
  static final class AgentNames {

    private final Map<AgentTypeId, AgentTypeView> types;

    AgentNames(List<AgentTypeView> types) {
      this.types = types.stream().collect(Collectors.toMap(AgentTypeView::id, Function.identity()));
    }

    String name(AgentTypeId id) {
      return Optional.ofNullable(types.get(id)).map(AgentTypeView::name).orElseGet(id::value);
    }

    List<String> tools(AgentTypeId id) {
      return Optional.ofNullable(types.get(id)).map(AgentTypeView::toolNames).orElse(List.of());
    }
  }

  /// Finds facts in the log before an entry that the entry itself does not repeat.
  static final class PrecedingEvents {

    /// How many events to search before the end of a task: related events are in the same append.
    private static final int APPEND_MAX = 7;

    private final PrecedingEntries preceding;

    PrecedingEvents(EventLog log) {
      this.preceding = new PrecedingEntries(log);
    }

    /// The answer of the root task that ended with this entry.
    Optional<Message> answer(Entry end) {
      return preceding
          .lastOfTask(end, APPEND_MAX, entry -> entry.event() instanceof Message)
          .map(entry -> (Message) entry.event())
          .filter(message -> message.role() == Role.ASSISTANT);
    }

    /// The error of the task that failed with this entry.
    Optional<ErrorReported> error(Entry end) {
      return preceding
          .lastOfTask(
              end,
              APPEND_MAX,
              entry ->
                  entry.event() instanceof ErrorReported error && error.scope() == ErrorScope.TASK)
          .map(entry -> (ErrorReported) entry.event());
    }

    /// The origin of the subtask whose end this entry reports to its parent.
    Optional<Origin> subtaskOrigin(Entry told, TaskId subtask) {
      return preceding
          .last(told, APPEND_MAX, entry -> subtask.equals(entry.taskId()))
          .map(Entry::origin);
    }

    /// True if the block that this entry completes was streamed in deltas.
    boolean wasStreamed(Entry end, ContentComplete complete) {
      return preceding
          .lastOfTask(end, Long.MAX_VALUE, entry -> delimits(entry, complete))
          .filter(entry -> entry.event() instanceof ContentDelta)
          .isPresent();
    }

    /// The block in which the entry's task was interrupted, if that is its latest block.
    Optional<BlockId> interruptedBlock(Entry first) {
      return preceding
          .lastOfTask(
              first,
              Long.MAX_VALUE,
              entry ->
                  entry.event() instanceof TaskCreated || entry.event() instanceof ContentComplete)
          .map(Entry::event)
          .filter(ContentComplete.class::isInstance)
          .map(ContentComplete.class::cast)
          .filter(end -> end.finishReason() == FinishReason.INTERRUPTED)
          .flatMap(end -> Optional.ofNullable(end.blockId()));
    }

    /// A task writes one block after another: the end of the previous block precedes a block's
    /// deltas.
    private static boolean delimits(Entry entry, ContentComplete complete) {
      return entry.event() instanceof TaskCreated
          || entry.event() instanceof ContentComplete
          || (entry.event() instanceof ContentDelta delta
              && Objects.equals(delta.blockId(), complete.blockId()));
    }
  }
}
