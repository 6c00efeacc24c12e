package dev.parley.api.a2a;

import dev.parley.a2a.A2aArtifact;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.ApiDependencies;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import dev.parley.stream.PageCache;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Reads root tasks from the log as A2A tasks.
public final class A2aTaskReader {

  private static final int READ = 512;

  private final EventLog log;
  private final Views views;
  private final ExternalTasks externalTasks;
  private final EndedTaskCache endedTaskCache = new EndedTaskCache();
  private final boolean kagent;

  /// @param kagent whether messages and tasks carry kagent metadata
  public A2aTaskReader(ApiDependencies parts, boolean kagent) {
    this.kagent = kagent;
    this.log = parts.log();
    this.views = parts.views();
    this.externalTasks = new ExternalTasks(views);
    parts.deletion().onDelete(endedTaskCache::evict);
  }

  /// The position before a root task's first message, where its fold begins.
  public static Position startPosition(TaskView task) {
    return Position.of(Math.max(0, task.seq() - 2));
  }

  /// A new fold of a root task. Apply the entries after [#startPosition] to it.
  public A2aTaskFold newFold(TaskView task, A2aVersion version) {
    return new A2aTaskFold(
        kagentMetadata(task.contextId(), task.taskId(), task.agentId()), version);
  }

  /// A new fold for streams to this caller.
  A2aTaskFold newFold(TaskView task, A2aCaller caller) {
    var repeated = kagent && caller.kagent() && caller.version() == A2aVersion.V0_3;
    var marks = kagentMetadata(task.contextId(), task.taskId(), task.agentId());
    return new A2aTaskFold(marks, caller.version(), repeated);
  }

  /// The metadata of a root task.
  KagentMetadata kagentMetadata(ContextId context, TaskId root, AgentTypeId agent) {
    return new KagentMetadata(context, root, agent, log.owner(context), kagent);
  }

  /// A fold of a root task with all of its current entries applied.
  public A2aTaskFold currentFold(TaskView task, A2aVersion version) {
    return currentFold(task, newFold(task, version));
  }

  /// A fold for streams to this caller, with all current entries applied.
  A2aTaskFold currentFold(TaskView task, A2aCaller caller) {
    return currentFold(task, newFold(task, caller));
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
      TaskView task, A2aVersion version, @Nullable Integer historyLength, boolean artifacts) {
    var elsewhere = externalTask(task);
    if (elsewhere.isPresent()) {
      return ExternalTasks.truncate(elsewhere.get(), historyLength, artifacts);
    }
    var shown =
        task.status().terminal()
            ? ExternalTasks.truncate(endedTask(task, version), historyLength, artifacts)
            : currentFold(task, version).task(historyLength, artifacts);
    return withEdits(task, shown);
  }

  /// An ended task, without later edits and deletions.
  private A2aTask endedTask(TaskView task, A2aVersion version) {
    var key = new EndedTaskCache.EndedTaskKey(task.contextId(), task.taskId(), version);
    return endedTaskCache.get(key, () -> currentFold(task, version).task(null, true));
  }

  /// The state of the task that [#snapshot] returns.
  A2aState state(TaskView task, A2aVersion version) {
    return externalTask(task)
        .map(known -> known.status().state())
        .orElseGet(
            () ->
                task.status().terminal()
                    ? endedTask(task, version).status().state()
                    : currentFold(task, version).state());
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
    return shown.with(artifacts, history);
  }

  /// An artifact with the text of an edited message gets the new text; one of a deleted message is
  /// omitted.
  private static Stream<A2aArtifact> withEdits(
      A2aArtifact made, A2aMessage said, @Nullable A2aMessage now) {
    if (!text(made.parts()).equals(text(said.parts()))) {
      return Stream.of(made);
    }
    return now == null ? Stream.empty() : Stream.of(made.withParts(now.parts()));
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
        .map(now -> now.editedAt() == null ? said : said.withText(now.content()));
  }

  /// Cache of ended tasks, so that their events are folded only once. The oldest entries are evicted
  /// when the cache is full.
  ///
  /// No events are written to a task after its end, so entries do not become stale. A rewind only
  /// changes whether a task is found; it does not change the task. Later edits and deletions of
  /// messages are not part of an entry. The entries of a deleted context must be evicted. For many
  /// threads.
  static final class EndedTaskCache {

    private static final long CHARACTERS_MAX = 16L << 20;

    /// The size of a task, a message or an artifact without its content.
    private static final int ITEM_OVERHEAD = 500;

    /// A task in a context and a protocol version.
    record EndedTaskKey(ContextId context, TaskId task, A2aVersion version) {}

    private final PageCache<EndedTaskKey, A2aTask> tasks =
        new PageCache<>(CHARACTERS_MAX, EndedTaskCache::sizeOf);

    /// Returns the cached task, or folds and caches it. The task must have ended.
    A2aTask get(EndedTaskKey key, Supplier<A2aTask> fold) {
      try {
        return tasks.get(key, fold);
      } catch (InterruptedException told) {
        Thread.currentThread().interrupt();
        throw new Rejection.Unavailable("the task was not read because the server is stopping");
      }
    }

    /// Removes the tasks of a deleted context.
    void evict(ContextId context) {
      tasks.forget(key -> key.context().equals(context));
    }

    private static long sizeOf(A2aTask task) {
      if (!task.status().state().terminal()) {
        return 0;
      }
      var history = task.history() == null ? List.<A2aMessage>of() : task.history();
      return ITEM_OVERHEAD
          + history.stream().mapToLong(one -> sizeOf(one.parts(), one.metadata())).sum()
          + task.artifacts().stream().mapToLong(EndedTaskCache::sizeOf).sum();
    }

    private static long sizeOf(A2aArtifact artifact) {
      return sizeOf(artifact.parts(), artifact.metadata());
    }

    private static long sizeOf(List<A2aPart> parts, @Nullable JsonNode metadata) {
      return ITEM_OVERHEAD
          + sizeOf(metadata)
          + parts.stream()
              .mapToLong(part -> sizeOf(part.content()) + sizeOf(part.metadata()))
              .sum();
    }

    private static long sizeOf(A2aPart.PartContent content) {
      return switch (content) {
        case A2aPart.TextContent(var text) -> text.length();
        case A2aPart.RawContent(var base64) -> base64.length();
        case A2aPart.UrlContent(var url) -> url.length();
        case A2aPart.DataContent(var value) -> sizeOf(value);
      };
    }

    private static long sizeOf(@Nullable JsonNode json) {
      return json == null ? 0 : json.toString().length();
    }
  }
}
