package dev.parley.api.a2a;

import dev.parley.a2a.A2aArtifact;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aVersion;
import dev.parley.http.AnswerSource;
import dev.parley.http.ApiDependencies;
import dev.parley.log.EventLog;
import dev.parley.projection.TaskView;
import dev.parley.projection.Views;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads root tasks from the log as A2A tasks.
public final class A2aTaskReader {

  private static final int READ = 512;

  private final EventLog log;
  private final Views views;
  private final AnswerSource answerSource;
  private final ExternalTasks externalTasks;
  private final EndedTaskCache endedTaskCache = new EndedTaskCache();
  private final boolean kagent;

  /// @param kagent whether messages and tasks carry kagent metadata
  public A2aTaskReader(ApiDependencies parts, boolean kagent) {
    this.kagent = kagent;
    this.log = parts.log();
    this.views = parts.views();
    this.answerSource = new AnswerSource(log, views);
    this.externalTasks = new ExternalTasks(views);
    parts.deletion().onDelete(endedTaskCache::evict);
  }

  /// The position before a root task's first message, where its fold begins.
  public static Position startPosition(TaskView task) {
    return Position.of(Math.max(0, task.seq() - 2));
  }

  /// A new fold of a root task. Apply the entries after [#startPosition] to it.
  public A2aTaskFold newFold(TaskView task, A2aVersion a2aVersion) {
    return new A2aTaskFold(
        answerSource, kagentMetadata(task.contextId(), task.taskId(), task.agentId()), a2aVersion);
  }

  /// A new fold for streams to this caller.
  A2aTaskFold newFold(TaskView task, A2aCaller a2aCaller) {
    var repeated = kagent && a2aCaller.kagent() && a2aCaller.version() == A2aVersion.V0_3;
    var marks = kagentMetadata(task.contextId(), task.taskId(), task.agentId());
    return new A2aTaskFold(answerSource, marks, a2aCaller.version(), repeated);
  }

  /// The metadata of a root task.
  KagentMetadata kagentMetadata(ContextId context, TaskId root, AgentTypeId agent) {
    return new KagentMetadata(context, root, agent, log.owner(context), kagent);
  }

  /// A fold of a root task with all of its current entries applied.
  public A2aTaskFold currentFold(TaskView task, A2aVersion a2aVersion) {
    return currentFold(task, newFold(task, a2aVersion));
  }

  /// A fold for streams to this caller, with all current entries applied.
  A2aTaskFold currentFold(TaskView task, A2aCaller a2aCaller) {
    return currentFold(task, newFold(task, a2aCaller));
  }

  private A2aTaskFold currentFold(TaskView task, A2aTaskFold fold) {
    var position = startPosition(task);
    for (var page = log.read(task.contextId(), position, READ);
        !page.isEmpty() && !fold.state().terminal();
        page = log.read(task.contextId(), position, READ)) {
      for (var entry : page) {
        fold.apply(entry);
        position = entry.position();
        if (fold.state().terminal()) {
          break;
        }
      }
    }
    return fold;
  }

  /// The current state of a root task.
  public A2aTask snapshot(
      TaskView task, A2aVersion a2aVersion, @Nullable Integer historyLength, boolean artifacts) {
    var elsewhere = externalTask(task);
    if (elsewhere.isPresent()) {
      return ExternalTasks.truncate(elsewhere.get(), historyLength, artifacts);
    }
    var shown =
        task.status().terminal()
            ? ExternalTasks.truncate(endedTask(task, a2aVersion), historyLength, artifacts)
            : currentFold(task, a2aVersion).task(historyLength, artifacts);
    return withEdits(task, shown);
  }

  /// An ended task, without later edits and deletions.
  private A2aTask endedTask(TaskView task, A2aVersion a2aVersion) {
    var endedTaskKey = new EndedTaskCache.EndedTaskKey(task.contextId(), task.taskId(), a2aVersion);
    return endedTaskCache.get(endedTaskKey, () -> currentFold(task, a2aVersion).task(null, true));
  }

  /// The state of the task that [#snapshot] returns.
  A2aState state(TaskView task, A2aVersion a2aVersion) {
    return externalTask(task)
        .map(known -> known.status().state())
        .orElseGet(
            () ->
                task.status().terminal()
                    ? endedTask(task, a2aVersion).status().state()
                    : currentFold(task, a2aVersion).state());
  }

  /// The task as a client stored it, if it is external.
  private Optional<A2aTask> externalTask(TaskView task) {
    return ExternalTasks.isExternal(task)
        ? externalTasks.find(task.contextId(), task.taskId())
        : Optional.empty();
  }

  /// Applies later edits and deletions of messages to the task.
  private A2aTask withEdits(TaskView task, A2aTask shown) {
    if (shown.history() == null) {
      return shown;
    }
    var history = new ArrayList<A2aMessage>();
    var artifacts = shown.artifacts();
    for (var said : shown.history()) {
      var now = withEdits(task.contextId(), said);
      now.ifPresent(history::add);
      if (!now.equals(Optional.of(said))) {
        artifacts =
            artifacts.stream().flatMap(made -> withEdits(made, said, now.orElse(null))).toList();
      }
    }
    return new A2aTask(
        shown.id(), shown.contextId(), shown.status(), artifacts, history, shown.metadata());
  }

  /// An artifact with the text of an edited message gets the new text; one of a deleted message is
  /// omitted.
  private static Stream<A2aArtifact> withEdits(
      A2aArtifact made, A2aMessage said, @Nullable A2aMessage now) {
    if (!text(made.parts()).equals(text(said.parts()))) {
      return Stream.of(made);
    }
    return now == null
        ? Stream.empty()
        : Stream.of(
            new A2aArtifact(
                made.artifactId(),
                made.name(),
                made.description(),
                now.parts(),
                made.metadata(),
                made.extensions()));
  }

  private static String text(List<A2aPart> parts) {
    return parts.stream()
        .map(part -> part.content() instanceof A2aPart.TextContent(var text) ? text : "\0")
        .collect(Collectors.joining());
  }

  private Optional<A2aMessage> withEdits(ContextId context, A2aMessage said) {
    var id = Id.valid(said.messageId()) ? new MessageId(said.messageId()) : null;
    if (id == null || views.turnPosition(context, id).isEmpty()) {
      return Optional.of(said);
    }
    return views
        .message(context, id)
        .map(
            now ->
                now.editedAt() == null
                    ? said
                    : new A2aMessage(
                        said.messageId(),
                        said.contextId(),
                        said.taskId(),
                        said.role(),
                        List.of(A2aPart.text(now.content())),
                        said.metadata()));
  }
}
