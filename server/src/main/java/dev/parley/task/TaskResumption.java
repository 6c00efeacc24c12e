package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Everything that a client sends to a waiting task, applied in one step: answers, and optionally a
/// message.
public record TaskResumption(
    ContextId context,
    Answerer by,
    List<GivenAnswer> answers,
    @Nullable Submission message,
    AppendGuard guard) {
  public TaskResumption {
    answers = List.copyOf(answers);
  }

  /// An answer to a question. Without a value the question lapses, for this `reason`.
  public record GivenAnswer(
      Id questionId,
      @Nullable JsonNode value,
      @Nullable ObjectNode metadata,
      @Nullable String reason) {

    /// The same answer with other metadata.
    GivenAnswer with(@Nullable ObjectNode other) {
      return new GivenAnswer(questionId, value, other, reason);
    }
  }
}
