package dev.parley.task;

import dev.parley.log.Guard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskEvent.Priority;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What a person says, and how it is to be taken up.
public record Submission(
    ContextId context,
    String principal,
    String content,
    @Nullable List<JsonNode> parts,
    Options options,
    Guard guard,
    Label label) {

  /// A message that its sender has no name for.
  public Submission(
      ContextId context,
      String principal,
      String content,
      @Nullable List<JsonNode> parts,
      Options options,
      Guard guard) {
    this(context, principal, content, parts, options, guard, Label.NONE);
  }

  /// What the sender calls the message, and says about it: goes to the message's metadata.
  public record Label(@Nullable MessageId messageId, @Nullable ObjectNode metadata) {

    /// In a message's metadata: what the client said about the message, as it was. Nothing depends on it.
    public static final String CLIENT = "client";

    /// Nothing.
    public static final Label NONE = new Label(null, null);

    /// What a client says about a message that it has no name for.
    public static Label of(@Nullable ObjectNode said) {
      return said == null || said.isEmpty()
          ? NONE
          : new Label(null, Json.object().set(CLIENT, said.deepCopy()));
    }
  }

  /// In the metadata of a task, of what is said to one, and of an answer: what the client calls the run.
  public static final String RUN_ID = "runId";

  /// How a message is to be worked on; what is missing has a default. `metadata` goes to the task's.
  public record Options(
      @Nullable AgentTypeId agentId,
      @Nullable String taskType,
      @Nullable Priority priority,
      @Nullable Long timeoutMs,
      @Nullable String workingDirectory,
      @Nullable String strategy,
      @Nullable WhenBusy whenBusy,
      List<ObjectNode> clientTools,
      @Nullable ObjectNode metadata) {
    public Options {
      clientTools = List.copyOf(clientTools);
    }

    public Options(
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

    public Options(
        @Nullable AgentTypeId agentId,
        @Nullable String taskType,
        @Nullable Priority priority,
        @Nullable Long timeoutMs,
        @Nullable String workingDirectory,
        @Nullable String strategy,
        @Nullable WhenBusy whenBusy) {
      this(agentId, taskType, priority, timeoutMs, workingDirectory, strategy, whenBusy, List.of());
    }

    /// Every default.
    public static final Options NONE = new Options(null, null, null, null, null, null, null);
  }
}
