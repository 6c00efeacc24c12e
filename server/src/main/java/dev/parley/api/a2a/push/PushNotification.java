package dev.parley.api.a2a.push;

import dev.parley.a2a.A2aArtifact;
import dev.parley.a2a.A2aEncoders;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aResponseItem;
import dev.parley.a2a.A2aResponseItem.A2aArtifactUpdate;
import dev.parley.a2a.A2aResponseItem.A2aStatusUpdate;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.api.a2a.A2aTaskFold.A2aStreamItem;
import dev.parley.protocol.Json;
import dev.parley.stream.FrameCursor;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One request to a webhook: its item, and the frame id up to which it covers the stream.
record PushNotification(FrameCursor id, A2aResponseItem item) {

  private static final int TEXT_MAX = 64 * 1024;

  /// Creates the notifications for these items. Waiting chunks of one text are merged.
  static List<PushNotification> of(List<A2aStreamItem> told) {
    var notices = new ArrayList<PushNotification>();
    for (var next : told) {
      var joined = notices.isEmpty() ? null : merge(notices.getLast().item(), next.item());
      if (joined == null) {
        notices.add(new PushNotification(next.id(), next.item()));
      } else {
        notices.set(notices.size() - 1, new PushNotification(next.id(), joined));
      }
    }
    return notices;
  }

  private static @Nullable A2aResponseItem merge(A2aResponseItem one, A2aResponseItem next) {
    if (one instanceof A2aArtifactUpdate first
        && next instanceof A2aArtifactUpdate second
        && second.append()
        && first.artifact().artifactId().equals(second.artifact().artifactId())
        && text(first.artifact()) != null
        && text(second.artifact()) != null) {
      var text = text(first.artifact()) + text(second.artifact());
      if (text.length() <= TEXT_MAX) {
        return new A2aArtifactUpdate(
            first.taskId(),
            first.contextId(),
            first.artifact().withParts(List.of(A2aPart.text(text))),
            first.append(),
            second.lastChunk(),
            first.metadata());
      }
    }
    return null;
  }

  /// The artifact's text, if it has only text.
  private static @Nullable String text(A2aArtifact artifact) {
    if (artifact.parts().isEmpty()) {
      return "";
    }
    return artifact.parts().size() == 1
            && artifact.parts().getFirst().content() instanceof A2aPart.TextContent(var text)
            && artifact.parts().getFirst().mediaType() == null
        ? text
        : null;
  }

  /// The task's status according to this item; null if the item has none.
  static @Nullable PushedStatus statusOf(A2aResponseItem item) {
    return switch (item) {
      case A2aStatusUpdate update -> PushedStatus.of(update.status());
      case A2aTask task -> PushedStatus.of(task.status());
      default -> null;
    };
  }

  /// The request body for webhooks of 0.3.
  static byte[] taskBody(A2aTask task) {
    return Json.bytes(A2aEncoders.V0_3.task(task));
  }

  /// The request body for webhooks of 1.0.
  byte[] body() {
    return Json.bytes(A2aEncoders.V1_0.item(item));
  }

  /// A task's state and open question. Webhooks of 0.3 are notified when one of them changes.
  record PushedStatus(A2aState state, @Nullable String question) {

    static PushedStatus of(A2aStatus status) {
      var message = status.message();
      return new PushedStatus(
          status.state(),
          status.state().interrupted() && message != null ? message.messageId() : null);
    }
  }
}
