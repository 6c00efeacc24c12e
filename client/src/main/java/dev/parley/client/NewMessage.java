package dev.parley.client;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.TaskEvent.Priority;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A message to send, and options for its task; null means the default.
///
/// `whenBusy` is `enqueue`, `reject`, `interrupt`, `rollback` or `steer`.
public record NewMessage(
    @Nullable String content,
    @Nullable List<JsonNode> parts,
    @Nullable AgentTypeId agentId,
    @Nullable String taskType,
    @Nullable Priority priority,
    @Nullable Long timeoutMs,
    @Nullable String workingDirectory,
    @Nullable String strategy,
    @Nullable String whenBusy) {

  public NewMessage {
    parts = parts == null ? null : List.copyOf(parts);
  }

  /// Plain text.
  public static NewMessage text(String content) {
    return new NewMessage(content, null, null, null, null, null, null, null, null);
  }

  /// The same, but for this agent; if null, the server chooses the agent.
  public NewMessage to(@Nullable AgentTypeId agent) {
    return new NewMessage(
        content, parts, agent, taskType, priority, timeoutMs, workingDirectory, strategy, whenBusy);
  }

  /// The same, but with this working directory on the server; if null, its default.
  public NewMessage in(@Nullable String folder) {
    return new NewMessage(
        content, parts, agentId, taskType, priority, timeoutMs, folder, strategy, whenBusy);
  }

  /// The same, but with this policy if a task already runs.
  public NewMessage whenBusy(@Nullable String policy) {
    return new NewMessage(
        content, parts, agentId, taskType, priority, timeoutMs, workingDirectory, strategy, policy);
  }
}
