package dev.parley.door.a2a.push;

import dev.parley.a2a.WireArtifact;
import dev.parley.a2a.WireArtifactUpdate;
import dev.parley.a2a.WireForms;
import dev.parley.a2a.WireItem;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
import dev.parley.a2a.WireStatusUpdate;
import dev.parley.a2a.WireTask;
import dev.parley.door.FrameCursor;
import dev.parley.door.a2a.TaskFold.Told;
import dev.parley.protocol.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// One request to a webhook: its item, and the frame id up to which it covers the stream.
record Notice(FrameCursor id, WireItem item) {

  private static final int TEXT_MAX = 64 * 1024;

  /// Creates the notifications for these items. Waiting chunks of one text are merged.
  static List<Notice> of(List<Told> told) {
    var notices = new ArrayList<Notice>();
    for (var next : told) {
      var joined = notices.isEmpty() ? null : joined(notices.getLast().item(), next.item());
      if (joined == null) {
        notices.add(new Notice(next.id(), next.item()));
      } else {
        notices.set(notices.size() - 1, new Notice(next.id(), joined));
      }
    }
    return notices;
  }

  private static @Nullable WireItem joined(WireItem one, WireItem next) {
    if (one instanceof WireArtifactUpdate first
        && next instanceof WireArtifactUpdate second
        && second.append()
        && first.artifact().artifactId().equals(second.artifact().artifactId())
        && text(first.artifact()) != null
        && text(second.artifact()) != null) {
      var text = text(first.artifact()) + text(second.artifact());
      if (text.length() <= TEXT_MAX) {
        var artifact = first.artifact();
        return new WireArtifactUpdate(
            first.taskId(),
            first.contextId(),
            new WireArtifact(
                artifact.artifactId(),
                artifact.name(),
                artifact.description(),
                List.of(WirePart.text(text)),
                artifact.metadata(),
                artifact.extensions()),
            first.append(),
            second.lastChunk(),
            first.metadata());
      }
    }
    return null;
  }

  /// The artifact's text, if it has only text.
  private static @Nullable String text(WireArtifact artifact) {
    if (artifact.parts().isEmpty()) {
      return "";
    }
    return artifact.parts().size() == 1
            && artifact.parts().getFirst().content() instanceof WirePart.Text(var text)
            && artifact.parts().getFirst().mediaType() == null
        ? text
        : null;
  }

  /// The task's status according to this item; null if the item has none.
  static @Nullable Stand stand(WireItem item) {
    return switch (item) {
      case WireStatusUpdate update -> Stand.of(update.status());
      case WireTask task -> Stand.of(task.status());
      default -> null;
    };
  }

  /// The request body for webhooks of 0.3.
  static byte[] whole(WireTask task) {
    return Json.bytes(WireForms.V0_3.task(task));
  }

  /// The request body for webhooks of 1.0.
  byte[] body() {
    return Json.bytes(WireForms.V1_0.item(item));
  }

  /// A task's state and open question. Webhooks of 0.3 are notified when one of them changes.
  record Stand(WireState state, @Nullable String question) {

    static Stand of(WireStatus status) {
      var message = status.message();
      return new Stand(
          status.state(),
          status.state().interrupted() && message != null ? message.messageId() : null);
    }
  }
}
