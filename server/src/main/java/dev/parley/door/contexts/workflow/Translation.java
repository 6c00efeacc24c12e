package dev.parley.door.contexts.workflow;

import dev.parley.door.contexts.workflow.WorkflowEvent.ArtifactManifest;
import dev.parley.door.contexts.workflow.WorkflowEvent.Diagnostic;
import dev.parley.door.contexts.workflow.WorkflowEvent.InputReceived;
import dev.parley.door.contexts.workflow.WorkflowEvent.LifecycleUpdated;
import dev.parley.door.contexts.workflow.WorkflowEvent.NodeCompleted;
import dev.parley.door.contexts.workflow.WorkflowEvent.NodeFailed;
import dev.parley.door.contexts.workflow.WorkflowEvent.NodeOutputDelta;
import dev.parley.door.contexts.workflow.WorkflowEvent.NodeOutputSummary;
import dev.parley.door.contexts.workflow.WorkflowEvent.NodeStarted;
import dev.parley.door.contexts.workflow.WorkflowEvent.ResultCancelled;
import dev.parley.door.contexts.workflow.WorkflowEvent.ResultFinal;
import dev.parley.door.contexts.workflow.WorkflowEvent.SubflowCompleted;
import dev.parley.door.contexts.workflow.WorkflowEvent.SubflowProgress;
import dev.parley.door.contexts.workflow.WorkflowEvent.ToolCompleted;
import dev.parley.door.contexts.workflow.WorkflowEvent.ToolProgressed;
import dev.parley.door.contexts.workflow.WorkflowEvent.ToolStarted;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.MessageEvent;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ThoughtEvent.InternalThoughtProcess;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import org.jspecify.annotations.Nullable;

/// Translates events to the workflow format. Every kind of event has exactly one translation.
final class Translation {

  /// The name of every tool that spawns sub-agents.
  private static final String SUBAGENT = "subagent";

  private final Trees trees;

  Translation(Trees trees) {
    this.trees = trees;
  }

  /// A translated event, its call, and the call that caused it.
  record Said(WorkflowEvent event, @Nullable ToolCallId call, @Nullable ToolCallId cause) {
    static Said of(WorkflowEvent event) {
      return new Said(event, null, null);
    }
  }

  Said translate(Entry entry) {
    return switch (entry.event()) {
      case Message message -> Said.of(message(message));
      case MessageEvent changed -> Said.of(lifecycle("message", changed));
      case ContextEvent changed -> Said.of(lifecycle("context", changed));
      case TaskEvent event -> Said.of(task(event));
      case InputEvent.InputReceived received -> Said.of(answer(received));
      case InputEvent changed -> Said.of(lifecycle("input", changed));
      case AuthEvent changed -> Said.of(lifecycle("auth", changed));
      case ContentDelta(var delta, var index, var block) ->
          Said.of(new NodeOutputDelta(delta, index, block, null));
      case ContentComplete complete -> Said.of(completed(complete));
      case ArtifactEvent written -> Said.of(manifest(written));
      case InternalLlmCall(var iteration, var model, var messages, var tools) ->
          Said.of(new NodeStarted(iteration, model, messages, tools));
      case ThoughtStream thought -> Said.of(diagnostic("thought", thought));
      case InternalThoughtProcess thought -> Said.of(diagnostic("thought_process", thought));
      case InternalCheckpoint checkpoint -> Said.of(diagnostic("checkpoint", checkpoint));
      case Usage usage -> Said.of(diagnostic("usage", usage));
      case InternalRaw raw -> Said.of(diagnostic("raw", raw));
      case ErrorReported(var code, var message, var retryable, var scope, var call) ->
          new Said(new NodeFailed(code, message, retryable, scope), call, call);
      case ToolEvent event -> tool(entry, event);
      case SubtaskCreated created -> progress(entry, created);
      case SubtaskComplete ended -> progress(entry, ended);
    };
  }

  private static WorkflowEvent message(Message message) {
    return switch (message.role()) {
      case USER, SYSTEM -> said(message, message.role());
      case ASSISTANT ->
          new NodeOutputSummary(
              message.messageId(), message.content(), message.parts(), message.metadata());
    };
  }

  private static InputReceived said(Message message, Role role) {
    return new InputReceived(
        "message",
        message.messageId(),
        null,
        role,
        message.content(),
        message.parts(),
        null,
        null,
        null,
        null,
        message.metadata());
  }

  private static InputReceived answer(InputEvent.InputReceived received) {
    return new InputReceived(
        "answer",
        null,
        received.inputId(),
        null,
        null,
        null,
        received.value(),
        received.providedBy(),
        received.userId(),
        received.agentId(),
        received.metadata());
  }

  private static WorkflowEvent task(TaskEvent event) {
    return switch (event) {
      case TaskStatus(var state, var message, var metadata) when state == TaskState.FAILED ->
          new ResultFinal(Phase.of(state), null, null, message, metadata);
      case TaskStatus(var state, var message, var metadata) when state == TaskState.CANCELED ->
          new ResultCancelled(Phase.of(state), message, metadata);
      case TaskStatus status ->
          new LifecycleUpdated("task", Phase.of(status.status()), SnakeJson.tree(status));
      case TaskComplete(var content, var artifacts, var metadata) ->
          new ResultFinal(Phase.of(TaskState.COMPLETED), content, artifacts, null, metadata);
      case TaskEvent.TaskCreated created -> lifecycle("task", created);
      case TaskEvent.CancelRequested requested -> lifecycle("task", requested);
      case TaskEvent.TaskStored stored -> lifecycle("stored_task", stored);
      case TaskEvent.TaskDeleted deleted -> lifecycle("stored_task", deleted);
    };
  }

  /// The phase is the kind without its subject: `context-rewound` becomes `rewound`.
  private static LifecycleUpdated lifecycle(String scope, Event event) {
    var kind = event.kind().wire().replace('-', '_');
    var dash = kind.indexOf('_');
    var subject = kind.substring(0, dash);
    var phase =
        scope.equals(subject) || scope.endsWith("_" + subject) ? kind.substring(dash + 1) : kind;
    return new LifecycleUpdated(scope, phase, SnakeJson.tree(event));
  }

  private static Diagnostic diagnostic(String topic, Event event) {
    return new Diagnostic(topic, SnakeJson.tree(event));
  }

  private static NodeCompleted completed(ContentComplete complete) {
    return new NodeCompleted(
        complete.content(),
        complete.blockId(),
        complete.finishReason(),
        Boolean.TRUE.equals(complete.partial()),
        complete.replaces(),
        complete.toolCalls());
  }

  private static ArtifactManifest manifest(ArtifactEvent written) {
    return switch (written) {
      case ArtifactEvent.FileWrite file ->
          new ArtifactManifest(
              file.artifactId(),
              file.version(),
              "file",
              file.name(),
              file.description(),
              file.mimeType(),
              file.encoding(),
              file.index(),
              file.complete(),
              null,
              file.metadata());
      case ArtifactEvent.DataWrite data ->
          new ArtifactManifest(
              data.artifactId(),
              data.version(),
              "data",
              data.name(),
              data.description(),
              null,
              null,
              0,
              true,
              null,
              data.metadata());
      case ArtifactEvent.DatasetWrite rows ->
          new ArtifactManifest(
              rows.artifactId(),
              rows.version(),
              "dataset",
              rows.name(),
              rows.description(),
              null,
              null,
              rows.index(),
              rows.complete(),
              rows.schema(),
              rows.metadata());
    };
  }

  private Said tool(Entry entry, ToolEvent event) {
    return switch (event) {
      case ToolStart start ->
          new Said(
              new ToolStarted(
                  name(start.toolName(), start.subagentMetadata()),
                  start.toolName(),
                  start.arguments(),
                  start.attempt(),
                  start.metadata(),
                  start.subagentMetadata()),
              start.toolCallId(),
              null);
      case ToolProgress(var call, var progress, var message, var metadata) ->
          new Said(new ToolProgressed(progress, message, metadata), call, call);
      case ToolComplete end ->
          new Said(ended(end, spawned(entry, end)), end.toolCallId(), end.toolCallId());
    };
  }

  private static ToolCompleted ended(ToolComplete end, @Nullable SubagentMetadata metadata) {
    return new ToolCompleted(
        name(end.toolName(), metadata),
        end.toolName(),
        end.success(),
        end.result(),
        end.error(),
        end.outcome(),
        end.metadata(),
        metadata);
  }

  /// The result of a cancelled call does not name its sub-agents.
  private @Nullable SubagentMetadata spawned(Entry entry, ToolComplete end) {
    return end.success() || end.subagentMetadata() != null
        ? end.subagentMetadata()
        : trees.announced(entry, end.toolCallId());
  }

  private static String name(String tool, @Nullable SubagentMetadata metadata) {
    return metadata == null ? tool : SUBAGENT;
  }

  private Said progress(Entry entry, SubtaskCreated created) {
    var batch = status(entry);
    return new Said(
        new SubflowProgress(
            created.subtaskId(),
            Phase.of(TaskState.SUBMITTED),
            created.agentId(),
            created.prompt(),
            null,
            null,
            batch.completed(),
            batch.total(),
            batch.tokens(),
            batch.toolCalls()),
        batch.call(),
        batch.call());
  }

  private Said progress(Entry entry, SubtaskComplete ended) {
    var batch = status(entry);
    var done = batch.completed() >= batch.total();
    return new Said(
        done ? completed(ended, batch) : progressed(ended, batch), batch.call(), batch.call());
  }

  private static SubflowProgress progressed(SubtaskComplete ended, Batch.Status batch) {
    return new SubflowProgress(
        ended.subtaskId(),
        Phase.of(ended.status()),
        null,
        null,
        ended.result(),
        ended.error(),
        batch.completed(),
        batch.total(),
        batch.tokens(),
        batch.toolCalls());
  }

  private static SubflowCompleted completed(SubtaskComplete ended, Batch.Status batch) {
    return new SubflowCompleted(
        ended.subtaskId(),
        Phase.of(ended.status()),
        ended.result(),
        ended.error(),
        batch.total(),
        batch.success(),
        batch.failed(),
        batch.cancelled(),
        batch.tokens(),
        batch.toolCalls());
  }

  /// The default is only for an event without a task.
  private Batch.Status status(Entry entry) {
    return trees.told(entry).orElse(new Batch.Status(null, 1, 0, 0, 0, 0, 0));
  }
}
