package dev.parley.protocol;

import dev.parley.protocol.ReportEvent.Usage;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A context at a position. A reader that shows it and then streams from `position` misses nothing.
///
/// It contains the latest messages; `hasEarlierMessages` is true if there are more.
public record ContextSnapshot(
    Position position,
    ContextView context,
    List<MessageView> messages,
    boolean hasEarlierMessages,
    List<TaskView> tasks,
    List<JsonNode> pendingInputs,
    List<JsonNode> pendingAuths,
    List<ArtifactView> artifacts,
    List<PartialText> partialTexts,
    List<UsageView> usage,
    ObjectNode state) {

  /// The text so far of a block that is still being streamed.
  public record PartialText(TaskId taskId, BlockId blockId, long firstSeq, String text) {}

  /// The usage of one model in a context: sums over its calls.
  public record UsageView(
      String model,
      long calls,
      long inputTokens,
      long outputTokens,
      long cacheCreationInputTokens,
      long cacheReadInputTokens,
      @Nullable BigDecimal costUsd) {

    /// All input tokens, including cached ones.
    public long allInputTokens() {
      return Usage.allInputTokens(inputTokens, cacheCreationInputTokens, cacheReadInputTokens);
    }
  }
}
