package dev.parley.api.a2a;

import dev.parley.a2a.A2aArtifact;
import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aVersion;
import dev.parley.http.PageCache;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Cache of ended tasks, so that their events are folded only once. The oldest entries are evicted
/// when the cache is full.
///
/// No events are written to a task after its end, so entries do not become stale. A rewind only
/// changes whether a task is found; it does not change the task. Later edits and deletions of
/// messages are not part of an entry. The entries of a deleted context must be evicted. For many
/// threads.
final class EndedTaskCache {

  private static final long CHARACTERS_MAX = 16L << 20;

  /// The size of a task, a message or an artifact without its content.
  private static final int ITEM_OVERHEAD = 500;

  /// A task in a context and a protocol version.
  record EndedTaskKey(ContextId context, TaskId task, A2aVersion version) {}

  private final PageCache<EndedTaskKey, A2aTask> tasks =
      new PageCache<>(CHARACTERS_MAX, EndedTaskCache::sizeOf);

  /// Returns the cached task, or folds and caches it. The task must have ended.
  A2aTask get(EndedTaskKey endedTaskKey, Supplier<A2aTask> fold) {
    try {
      return tasks.get(endedTaskKey, fold);
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the task was not read because the server is stopping");
    }
  }

  /// Removes the tasks of a deleted context.
  void evict(ContextId context) {
    tasks.forget(endedTaskKey -> endedTaskKey.context().equals(context));
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
        + parts.stream().mapToLong(part -> sizeOf(part.content()) + sizeOf(part.metadata())).sum();
  }

  private static long sizeOf(A2aPart.PartContent partContent) {
    return switch (partContent) {
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
