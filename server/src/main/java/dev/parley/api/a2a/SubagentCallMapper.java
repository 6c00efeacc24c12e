package dev.parley.api.a2a;

import dev.parley.a2a.A2aMessage;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// Maps tool calls that start sub-agents to the messages that kagent clients expect.
///
/// These clients recognize a sub-agent by the separator in the tool's name, and open one session
/// per call. A call that starts one agent is therefore shown with that agent's name. A call that
/// starts several agents keeps its own name and is followed by one call per agent, whose id is the
/// id of the agent's task. Without kagent metadata, all calls are shown unchanged. For one thread.
final class SubagentCallMapper {

  private static final String NAME_PREFIX = "default__NS__";

  private final A2aMessageMapper messages;
  private final boolean kagent;
  private final Map<CallKey, StartedSubagent> startedSubagents = new HashMap<>();
  private final Map<TaskId, PendingCall> pendingCalls = new HashMap<>();
  private final Map<TaskId, String> batchNames = new HashMap<>();

  /// A tool call. Its id is unique only within its task.
  private record CallKey(TaskId task, ToolCallId call) {}

  /// A call that starts one agent, before that agent is known.
  private record PendingCall(CallKey key, ToolStart start) {}

  /// A call that started one agent.
  private record StartedSubagent(TaskId child, String name) {}

  SubagentCallMapper(A2aMessageMapper a2aMessageMapper, boolean kagent) {
    this.messages = a2aMessageMapper;
    this.kagent = kagent;
  }

  /// The message for the start of a call; empty if it follows once the called agent is known.
  Optional<A2aMessage> start(Entry entry, Origin origin, ToolStart start) {
    var subagents = start.subagentMetadata();
    if (!kagent || subagents == null || subagents.taskIds().isEmpty()) {
      return Optional.of(messages.toolCall(entry, start));
    }
    if (subagents.taskIds().size() == 1) {
      var child = subagents.taskIds().getFirst();
      pendingCalls.put(
          child, new PendingCall(new CallKey(origin.taskId(), start.toolCallId()), start));
      return Optional.empty();
    }
    subagents.taskIds().forEach(child -> batchNames.put(child, ""));
    return Optional.of(messages.toolCall(entry, start));
  }

  /// The message for an agent that a call starts.
  Optional<A2aMessage> created(Entry entry, Origin origin, SubtaskCreated created) {
    var child = created.subtaskId();
    var name = name(created.agentId() == null ? origin.agentId() : created.agentId());
    var single = pendingCalls.remove(child);
    if (single != null) {
      var start = single.start();
      startedSubagents.put(single.key(), new StartedSubagent(child, name));
      var data = Json.object().put("id", start.toolCallId().value()).put("name", name);
      data.set("args", start.arguments());
      return Optional.of(messages.agentCall(entry, data, child, start.toolName()));
    }
    if (batchNames.replace(child, name) == null) {
      return Optional.empty();
    }
    var data = Json.object().put("id", child.value()).put("name", name);
    data.putObject("args").put("request", created.prompt());
    return Optional.of(messages.agentCall(entry, data, child, null));
  }

  /// The message for the result of one of several agents that a call started.
  Optional<A2aMessage> completed(Entry entry, SubtaskComplete end) {
    var name = batchNames.remove(end.subtaskId());
    if (name == null || name.isEmpty()) {
      return Optional.empty();
    }
    var response = Json.object();
    if (end.status() != TaskState.COMPLETED) {
      response.put("isError", true);
    }
    var text = end.result() == null ? end.error() : end.result();
    response.put("result", text == null ? end.status().wire() : text);
    response.put("subagent_session_id", end.subtaskId().value());
    var data = Json.object().put("id", end.subtaskId().value()).put("name", name);
    data.set("response", response);
    return Optional.of(messages.agentResult(entry, data));
  }

  /// The message for the end of a call.
  A2aMessage complete(Entry entry, Origin origin, ToolComplete end) {
    var startedSubagent = startedSubagents.remove(new CallKey(origin.taskId(), end.toolCallId()));
    if (startedSubagent == null) {
      return messages.toolResult(entry, end);
    }
    var data = A2aMessageMapper.resultData(end).put("name", startedSubagent.name());
    data.withObject("/response").put("subagent_session_id", startedSubagent.child().value());
    return messages.agentResult(entry, data);
  }

  private static String name(AgentTypeId agent) {
    return NAME_PREFIX + agent.value().replace('-', '_');
  }
}
