package dev.parley.task;

import dev.parley.identity.Caller;
import dev.parley.identity.CallerKind;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskAccount;
import dev.parley.protocol.TaskEvent.Priority;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A message of a user, and how to process it.
public record Submission(
    ContextId context,
    String principal,
    String content,
    @Nullable List<JsonNode> parts,
    TaskOptions options,
    AppendGuard guard,
    MessageLabel label,
    TaskAccount account) {

  /// A message of an authenticated caller, who is responsible for the task.
  public Submission(
      ContextId context,
      Caller caller,
      String content,
      @Nullable List<JsonNode> parts,
      TaskOptions options,
      AppendGuard guard,
      MessageLabel label) {
    this(context, caller.principal(), content, parts, options, guard, label, accountOf(caller));
  }

  /// A message of a principal without a tenant or a credential.
  public Submission(
      ContextId context,
      String principal,
      String content,
      @Nullable List<JsonNode> parts,
      TaskOptions options,
      AppendGuard guard,
      MessageLabel label) {
    this(context, principal, content, parts, options, guard, label, TaskAccount.of(principal));
  }

  /// A message without an id or metadata from its sender.
  public Submission(
      ContextId context,
      String principal,
      String content,
      @Nullable List<JsonNode> parts,
      TaskOptions options,
      AppendGuard guard) {
    this(context, principal, content, parts, options, guard, MessageLabel.NONE);
  }

  /// Who is responsible for the tasks of a caller.
  public static TaskAccount accountOf(Caller caller) {
    return new TaskAccount(
        caller.principal(),
        caller.tenant().equals(Caller.DEFAULT_TENANT) ? null : caller.tenant(),
        caller.kind() == CallerKind.LOCAL ? null : caller.credential());
  }

  /// The sender's id and metadata for the message; both are stored with the message.
  public record MessageLabel(@Nullable MessageId messageId, @Nullable ObjectNode metadata) {

    /// No id and no metadata.
    public static final MessageLabel NONE = new MessageLabel(null, null);

    /// The client's metadata for a message without an id.
    public static MessageLabel of(@Nullable ObjectNode said) {
      return said == null || said.isEmpty()
          ? NONE
          : new MessageLabel(null, MessageFacts.ofClient(said.deepCopy()));
    }
  }

  /// How to process a message; missing values have defaults. `metadata` is added to the task's
  /// metadata.
  public record TaskOptions(
      @Nullable AgentTypeId agentId,
      @Nullable String taskType,
      @Nullable Priority priority,
      @Nullable Long timeoutMs,
      @Nullable String workingDirectory,
      @Nullable String strategy,
      @Nullable WhenBusy whenBusy,
      List<ObjectNode> clientTools,
      @Nullable ObjectNode metadata) {
    public TaskOptions {
      clientTools = List.copyOf(clientTools);
    }

    public TaskOptions(
        @Nullable AgentTypeId agentId,
        @Nullable String taskType,
        @Nullable Priority priority,
        @Nullable Long timeoutMs,
        @Nullable String workingDirectory,
        @Nullable String strategy,
        @Nullable WhenBusy whenBusy,
        List<ObjectNode> clientTools) {
      this(
          agentId,
          taskType,
          priority,
          timeoutMs,
          workingDirectory,
          strategy,
          whenBusy,
          clientTools,
          null);
    }

    public TaskOptions(
        @Nullable AgentTypeId agentId,
        @Nullable String taskType,
        @Nullable Priority priority,
        @Nullable Long timeoutMs,
        @Nullable String workingDirectory,
        @Nullable String strategy,
        @Nullable WhenBusy whenBusy) {
      this(agentId, taskType, priority, timeoutMs, workingDirectory, strategy, whenBusy, List.of());
    }

    /// All defaults.
    public static final TaskOptions NONE =
        new TaskOptions(null, null, null, null, null, null, null);
  }
}
