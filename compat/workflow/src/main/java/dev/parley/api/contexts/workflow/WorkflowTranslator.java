package dev.parley.api.contexts.workflow;

import dev.parley.api.contexts.workflow.SubagentTree.BatchStatus;
import dev.parley.api.contexts.workflow.WorkflowEnvelope.SnakeCaseJson;
import dev.parley.api.contexts.workflow.WorkflowEnvelope.WorkflowPhase;
import dev.parley.api.contexts.workflow.WorkflowEvent.ArtifactManifest;
import dev.parley.api.contexts.workflow.WorkflowEvent.Diagnostic;
import dev.parley.api.contexts.workflow.WorkflowEvent.InputReceived;
import dev.parley.api.contexts.workflow.WorkflowEvent.LifecycleUpdated;
import dev.parley.api.contexts.workflow.WorkflowEvent.NodeCompleted;
import dev.parley.api.contexts.workflow.WorkflowEvent.NodeFailed;
import dev.parley.api.contexts.workflow.WorkflowEvent.NodeOutputDelta;
import dev.parley.api.contexts.workflow.WorkflowEvent.NodeOutputSummary;
import dev.parley.api.contexts.workflow.WorkflowEvent.NodeStarted;
import dev.parley.api.contexts.workflow.WorkflowEvent.ResultCancelled;
import dev.parley.api.contexts.workflow.WorkflowEvent.ResultFinal;
import dev.parley.api.contexts.workflow.WorkflowEvent.SubflowCompleted;
import dev.parley.api.contexts.workflow.WorkflowEvent.SubflowProgress;
import dev.parley.api.contexts.workflow.WorkflowEvent.ToolCompleted;
import dev.parley.api.contexts.workflow.WorkflowEvent.ToolProgressed;
import dev.parley.api.contexts.workflow.WorkflowEvent.ToolStarted;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.Kind;
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
final class WorkflowTranslator {

  /// The name of every tool that spawns sub-agents.
  private static final String SUBAGENT = "subagent";

  private final SubagentTreeCache trees;

  WorkflowTranslator(SubagentTreeCache trees) {
    this.trees = trees;
  }

  /// A translated event, its call, and the call that caused it.
  record TranslatedEvent(
      WorkflowEvent event, @Nullable ToolCallId call, @Nullable ToolCallId cause) {
    static TranslatedEvent of(WorkflowEvent event) {
      return new TranslatedEvent(event, null, null);
    }
  }

  TranslatedEvent translate(Entry entry) {
    return switch (entry.event()) {
      case Message message -> TranslatedEvent.of(message(message));
      case MessageEvent changed -> TranslatedEvent.of(lifecycle("message", changed));
      case ContextEvent changed -> TranslatedEvent.of(lifecycle("context", changed));
      case TaskEvent event -> TranslatedEvent.of(task(event));
      case InputEvent.InputReceived received -> TranslatedEvent.of(answer(received));
      case InputEvent changed -> TranslatedEvent.of(lifecycle("input", changed));
      case AuthEvent changed -> TranslatedEvent.of(lifecycle("auth", changed));
      case ContentDelta(var delta, var index, var block) ->
          TranslatedEvent.of(new NodeOutputDelta(delta, index, block, null));
      case ContentComplete complete -> TranslatedEvent.of(completed(complete));
      case ArtifactEvent written -> TranslatedEvent.of(manifest(written));
      case InternalLlmCall(var iteration, var model, var messages, var tools) ->
          TranslatedEvent.of(new NodeStarted(iteration, model, messages, tools));
      case ThoughtStream thought -> TranslatedEvent.of(diagnostic("thought", thought));
      case InternalThoughtProcess thought ->
          TranslatedEvent.of(diagnostic("thought_process", thought));
      case InternalCheckpoint checkpoint ->
          TranslatedEvent.of(diagnostic("checkpoint", checkpoint));
      case Usage usage -> TranslatedEvent.of(diagnostic("usage", usage));
      case InternalRaw raw -> TranslatedEvent.of(diagnostic("raw", raw));
      case ErrorReported(var code, var message, var retryable, var scope, var call) ->
          new TranslatedEvent(new NodeFailed(code, message, retryable, scope), call, call);
      case ToolEvent event -> tool(entry, event);
      case SubtaskCreated created -> progress(entry, created);
      case SubtaskComplete ended -> progress(entry, ended);
    };
  }

  private static WorkflowEvent message(Message message) {
    return switch (message.role()) {
      case USER, SYSTEM -> inputReceived(message, message.role());
      case ASSISTANT ->
          new NodeOutputSummary(
              message.messageId(), message.content(), message.parts(), message.metadata());
    };
  }

  private static InputReceived inputReceived(Message message, Role role) {
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
          new ResultFinal(WorkflowPhase.of(state), null, null, message, metadata);
      case TaskStatus(var state, var message, var metadata) when state == TaskState.CANCELED ->
          new ResultCancelled(WorkflowPhase.of(state), message, metadata);
      case TaskStatus status ->
          new LifecycleUpdated(
              "task", WorkflowPhase.of(status.status()), SnakeCaseJson.tree(status));
      case TaskComplete(var content, var artifacts, var metadata) ->
          new ResultFinal(
              WorkflowPhase.of(TaskState.COMPLETED), content, artifacts, null, metadata);
      case TaskEvent.TaskCreated created -> lifecycle("task", created);
      case TaskEvent.CancelRequested requested -> lifecycle("task", requested);
      case TaskEvent.TaskStored stored -> lifecycle("stored_task", stored);
      case TaskEvent.TaskDeleted deleted -> lifecycle("stored_task", deleted);
    };
  }

  /// The phase is the kind without its subject: `context-rewound` becomes `rewound`.
  private static LifecycleUpdated lifecycle(String scope, Event event) {
    var kind = Kind.of(event).wire().replace('-', '_');
    var dash = kind.indexOf('_');
    var subject = kind.substring(0, dash);
    var phase =
        scope.equals(subject) || scope.endsWith("_" + subject) ? kind.substring(dash + 1) : kind;
    return new LifecycleUpdated(scope, phase, SnakeCaseJson.tree(event));
  }

  private static Diagnostic diagnostic(String topic, Event event) {
    return new Diagnostic(topic, SnakeCaseJson.tree(event));
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

  private TranslatedEvent tool(Entry entry, ToolEvent event) {
    return switch (event) {
      case ToolStart start ->
          new TranslatedEvent(
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
          new TranslatedEvent(new ToolProgressed(progress, message, metadata), call, call);
      case ToolComplete end ->
          new TranslatedEvent(ended(end, spawned(entry, end)), end.toolCallId(), end.toolCallId());
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
        : trees.announced(entry, end.toolCallId()).orElse(null);
  }

  private static String name(String tool, @Nullable SubagentMetadata metadata) {
    return metadata == null ? tool : SUBAGENT;
  }

  private TranslatedEvent progress(Entry entry, SubtaskCreated created) {
    var batch = status(entry);
    return new TranslatedEvent(
        new SubflowProgress(
            created.subtaskId(),
            WorkflowPhase.of(TaskState.SUBMITTED),
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

  private TranslatedEvent progress(Entry entry, SubtaskComplete ended) {
    var batch = status(entry);
    var done = batch.completed() >= batch.total();
    return new TranslatedEvent(
        done ? completed(ended, batch) : progressed(ended, batch), batch.call(), batch.call());
  }

  private static SubflowProgress progressed(SubtaskComplete ended, BatchStatus batch) {
    return new SubflowProgress(
        ended.subtaskId(),
        WorkflowPhase.of(ended.status()),
        null,
        null,
        ended.result(),
        ended.error(),
        batch.completed(),
        batch.total(),
        batch.tokens(),
        batch.toolCalls());
  }

  private static SubflowCompleted completed(SubtaskComplete ended, BatchStatus batch) {
    return new SubflowCompleted(
        ended.subtaskId(),
        WorkflowPhase.of(ended.status()),
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
  private BatchStatus status(Entry entry) {
    return trees.batchStatus(entry).orElse(new BatchStatus(null, 1, 0, 0, 0, 0, 0));
  }
}
