package dev.parley.projection;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.util.List;
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
}
