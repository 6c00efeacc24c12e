package dev.parley.api.chat;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.EmptyAnswer;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskDeleted;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskEvent.TaskStored;
import dev.parley.protocol.ThoughtEvent;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/// Maps log entries to agent events: one for each entry that the chat API shows, none for the
/// others.
///
/// The result depends only on the log before the entry, and on the names of agents.
final class AgentEventMapper {

  /// The agent id of events that no agent caused.
  static final String SYSTEM = "system";

  static final String NEVER_STARTED = "Task was cancelled before execution";

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
    return switch (entry.event()) {
      case TaskEvent event -> task(entry, origin, event);
      case ContentDelta delta -> some(entry, origin, AgentEventType.OUTPUT, piece(entry, delta));
      case ContentComplete complete -> complete(entry, origin, complete);
      case ToolEvent event -> Optional.of(tool(entry, origin, event));
      case SubtaskCreated created ->
          some(entry, origin, AgentEventType.SUBAGENT_START, start(created));
      case SubtaskComplete complete ->
          some(entry, origin, AgentEventType.SUBAGENT_STOP, stop(entry, complete));
      case InputEvent event ->
          some(entry, origin, AgentEventType.PROGRESS, ChatProgress.of(entry, event));
      case AuthEvent event ->
          some(entry, origin, AgentEventType.PROGRESS, ChatProgress.of(entry, event));
      case ArtifactEvent event ->
          ChatProgress.of(entry, event)
              .flatMap(payload -> some(entry, origin, AgentEventType.PROGRESS, payload));
      // The chat API has no event for thoughts. Messages and contexts do not belong to a task.
      // Errors and usage are part of the task's last event.
      case ThoughtEvent _, MessageEvent _, ContextEvent _, ReportEvent _ -> Optional.empty();
    };
  }

  private Optional<AgentEvent> task(Entry entry, Origin origin, TaskEvent event) {
    return switch (event) {
      case TaskCreated created ->
          some(entry, origin, AgentEventType.STARTED, started(origin, created));
      case TaskStatus status -> status(entry, origin, status);
      case TaskComplete complete ->
          some(entry, origin, AgentEventType.COMPLETED, completed(complete));
      case CancelRequested _ ->
          some(entry, origin, AgentEventType.PROGRESS, ChatProgress.cancelling());
      case TaskStored _, TaskDeleted _ -> Optional.empty();
    };
  }

  private Optional<AgentEvent> status(Entry entry, Origin origin, TaskStatus status) {
    return switch (status.status()) {
      case SUBMITTED, WORKING, WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK ->
          some(entry, origin, AgentEventType.PROGRESS, ChatProgress.of(status));
      // The next event in the same append has more details.
      case COMPLETED -> Optional.empty();
      case FAILED -> some(entry, origin, AgentEventType.FAILED, failed(entry, status));
      case CANCELED ->
          Optional.of(
              new AgentEvent(entry, AgentEventType.CANCELLED, SYSTEM, cancelled(origin, status)));
    };
  }

  private ObjectNode started(Origin origin, TaskCreated created) {
    var json = Json.object().put("prompt", created.prompt() == null ? "" : created.prompt());
    var tools = json.putArray("tools");
    names.tools(origin.agentId()).forEach(tools::add);
    json.put("agentId", origin.agentId().value());
    return json.put("agentName", names.name(origin.agentId()));
  }

  private static ObjectNode completed(TaskComplete complete) {
    var json = Json.object().put("result", complete.content() == null ? "" : complete.content());
    if (complete.artifacts() != null) {
      var list = json.putArray("artifacts");
      complete.artifacts().forEach(artifact -> list.addObject().put("id", artifact.value()));
    }
    var taskCosts = TaskCosts.of(complete.facts());
    if (taskCosts.usage() != null) {
      json.set("usage", taskCosts.usage());
    }
    json.put("duration", complete.facts().duration().asLong(0));
    if (taskCosts.costUsd() != null) {
      json.put("costUsd", taskCosts.costUsd());
    }
    complete.facts().earlyEnd().ifPresent(early -> early.put(json));
    if (complete.facts().emptyAnswer()) {
      EmptyAnswer.put(json);
    }
    return json;
  }

  private ObjectNode failed(Entry entry, TaskStatus status) {
    var error = past.error(entry);
    var json =
        Json.object()
            .put("error", error.map(ReportEvent.ErrorReported::message).orElse(reason(status)))
            .put("recoverable", error.map(ReportEvent.ErrorReported::retryable).orElse(false));
    error.ifPresent(told -> json.put("code", told.code().wire()));
    return json;
  }

  private static ObjectNode cancelled(Origin origin, TaskStatus status) {
    var never = !status.facts().started();
    return Json.object()
        .put("reason", never ? NEVER_STARTED : reason(status))
        .put("agentId", origin.agentId().value());
  }

  private static String reason(TaskStatus status) {
    return status.facts().reason().orElse("");
  }

  private Optional<AgentEvent> complete(Entry entry, Origin origin, ContentComplete complete) {
    var streamed = past.wasStreamed(entry, complete);
    if (!streamed && complete.content().isEmpty()) {
      return Optional.empty();
    }
    // Clients that join the deltas have the text already, and must not get it twice.
    var json = output(streamed ? "" : complete.content(), false);
    if (complete.blockId() != null) {
      json.put("blockId", complete.blockId().value());
    }
    if (complete.replaces() != null) {
      json.put("replaces", complete.replaces().value());
    }
    if (complete.finishReason() != null) {
      json.put("finishReason", complete.finishReason().wire());
    }
    return some(entry, origin, AgentEventType.OUTPUT, json);
  }

  /// A delta of a block. The first one names the block that it replaces, if the agent was
  /// interrupted and repeats its output.
  private ObjectNode piece(Entry entry, ContentDelta delta) {
    var json = output(delta.delta(), true);
    if (delta.blockId() != null) {
      json.put("blockId", delta.blockId().value());
    }
    if (delta.index() == 0) {
      past.interruptedBlock(entry).ifPresent(block -> json.put("replaces", block.value()));
    }
    return json;
  }

  private static ObjectNode output(String content, boolean partial) {
    return Json.object().put("content", content).put("partial", partial);
  }

  private AgentEvent tool(Entry entry, Origin origin, ToolEvent event) {
    return switch (event) {
      case ToolStart start -> {
        var json = Json.object().put("tool", start.toolName());
        json.set("input", start.arguments());
        json.put("toolUseId", start.toolCallId().value());
        yield event(entry, origin, AgentEventType.TOOL_CALL, json);
      }
      case ToolProgress progress ->
          event(entry, origin, AgentEventType.PROGRESS, ChatProgress.of(progress));
      case ToolComplete complete ->
          event(entry, origin, AgentEventType.TOOL_RESULT, result(complete));
    };
  }

  private static ObjectNode result(ToolComplete complete) {
    var json = Json.object().put("tool", complete.toolName());
    if (complete.result() != null) {
      json.set("output", complete.result());
    } else {
      json.put("output", complete.error());
    }
    json.put("success", complete.success());
    json.put("toolUseId", complete.toolCallId().value());
    if (complete.error() != null) {
      json.put("error", complete.error());
    }
    if (complete.outcome() != null) {
      json.put("outcome", complete.outcome().wire());
    }
    return json;
  }

  private ObjectNode start(SubtaskCreated created) {
    var json = Json.object().put("taskId", created.subtaskId().value());
    if (created.agentId() != null) {
      json.put("agentId", created.agentId().value());
      json.put("agentName", names.name(created.agentId()));
    }
    return json.put("prompt", created.prompt());
  }

  private ObjectNode stop(Entry entry, SubtaskComplete complete) {
    var json = Json.object().put("taskId", complete.subtaskId().value());
    past.subtaskOrigin(entry, complete.subtaskId())
        .ifPresent(
            sub -> {
              json.put("agentId", sub.agentId().value());
              json.put("agentName", names.name(sub.agentId()));
            });
    json.put("status", ChatStatus.of(complete.status(), null).wire());
    if (complete.result() != null) {
      json.put("result", complete.result());
    }
    if (complete.error() != null) {
      json.put("error", complete.error());
    }
    return json;
  }

  private static Optional<AgentEvent> some(
      Entry entry, Origin origin, AgentEventType type, ObjectNode payload) {
    return Optional.of(event(entry, origin, type, payload));
  }

  private static AgentEvent event(
      Entry entry, Origin origin, AgentEventType type, ObjectNode payload) {
    return new AgentEvent(entry, type, origin.agentId().value(), payload);
  }
}
