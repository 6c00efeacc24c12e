package dev.parley.view;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A context at a position: a reader who shows this and streams on from `position` misses nothing.
///
/// Holds the latest messages; `hasEarlierMessages` says that there are more.
public record Snapshot(
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

  /// Text of a block that is still being streamed.
  public record PartialText(TaskId taskId, BlockId blockId, long firstSeq, String text) {}
}
