package dev.parley.task;

import dev.parley.log.Guard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// All that a client brings to a task that waits, to be taken in one step: answers, and perhaps something that
/// is said to it.
public record Resumption(
    ContextId context, Answerer by, List<Given> answers, @Nullable Submission said, Guard guard) {
  public Resumption {
    answers = List.copyOf(answers);
  }

  /// An answer to what was asked; if it has no value, nobody will answer, and `reason` is why.
  public record Given(
      Id asked, @Nullable JsonNode value, @Nullable ObjectNode metadata, @Nullable String reason) {

    /// The same with other metadata.
    Given with(@Nullable ObjectNode other) {
      return new Given(asked, value, other, reason);
    }
  }
}
