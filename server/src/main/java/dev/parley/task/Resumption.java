package dev.parley.task;

import dev.parley.log.Guard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Everything that a client sends to a waiting task, applied in one step: answers, and optionally a
/// message.
public record Resumption(
    ContextId context, Answerer by, List<Given> answers, @Nullable Submission said, Guard guard) {
  public Resumption {
    answers = List.copyOf(answers);
  }

  /// An answer to a question. Without a value the question lapses, for this `reason`.
  public record Given(
      Id asked, @Nullable JsonNode value, @Nullable ObjectNode metadata, @Nullable String reason) {

    /// The same answer with other metadata.
    Given with(@Nullable ObjectNode other) {
      return new Given(asked, value, other, reason);
    }
  }
}
