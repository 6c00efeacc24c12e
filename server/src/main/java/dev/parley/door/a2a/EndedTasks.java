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

/// Tasks that have ended, whole, so that nobody has to fold their events again. Those that were kept first go when all
/// together weigh too much.
///
/// Nothing is written to a task after its end, so none of them goes stale. A rewind makes the views find a task no more, or
/// again, and changes nothing of what it was; what was edited or hidden since is not in here. A context that is deleted
/// must be forgotten. For many threads.
final class EndedTasks {

  private static final long CHARACTERS_MAX = 16L << 20;

  /// What a task, a message or an artifact weighs beside what it says.
  private static final int EACH = 500;

  /// Which task, and for whom.
  record Key(ContextId context, TaskId task, Version version) {}

  private final Pages<Key, WireTask> tasks = new Pages<>(CHARACTERS_MAX, EndedTasks::weight);

  /// The task as it is kept, or as `fold` makes it now; the views say that it has ended.
  WireTask get(Key key, Supplier<WireTask> fold) {
    try {
      return tasks.get(key, fold);
    } catch (InterruptedException told) {
      Thread.currentThread().interrupt();
      throw new Rejection.Unavailable("the task was not read: the server stops");
    }
  }

  /// The context was deleted.
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
