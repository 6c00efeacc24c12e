package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireArtifact;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireTask;
import dev.parley.door.Pages;
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
final class EndedTasks {

  private static final long CHARACTERS_MAX = 16L << 20;

  /// The size of a task, a message or an artifact without its content.
  private static final int EACH = 500;

  /// A task in a context and a protocol version.
  record Key(ContextId context, TaskId task, Version version) {}

  private final Pages<Key, WireTask> tasks = new Pages<>(CHARACTERS_MAX, EndedTasks::weight);

  /// Returns the cached task, or folds and caches it. The task must have ended.
  WireTask get(Key key, Supplier<WireTask> fold) {
    try {
      return tasks.get(key, fold);
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the task was not read because the server is stopping");
    }
  }

  /// Removes the tasks of a deleted context.
  void forget(ContextId context) {
    tasks.forget(key -> key.context().equals(context));
  }

  private static long weight(WireTask task) {
    if (!task.status().state().terminal()) {
      return 0;
    }
    var history = task.history() == null ? List.<WireMessage>of() : task.history();
    return EACH
        + history.stream().mapToLong(one -> weight(one.parts(), one.metadata())).sum()
        + task.artifacts().stream().mapToLong(EndedTasks::weight).sum();
  }

  private static long weight(WireArtifact artifact) {
    return weight(artifact.parts(), artifact.metadata());
  }

  private static long weight(List<WirePart> parts, @Nullable JsonNode metadata) {
    return EACH
        + weight(metadata)
        + parts.stream().mapToLong(part -> weight(part.content()) + weight(part.metadata())).sum();
  }

  private static long weight(WirePart.Content content) {
    return switch (content) {
      case WirePart.Text(var text) -> text.length();
      case WirePart.Raw(var base64) -> base64.length();
      case WirePart.Url(var url) -> url.length();
      case WirePart.Data(var value) -> weight(value);
    };
  }

  private static long weight(@Nullable JsonNode json) {
    return json == null ? 0 : json.toString().length();
  }
}
