package dev.parley.client;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The state of a context at a position. A reader that streams events after `position` misses none.
public record Snapshot(
    Position position,
    ContextInfo context,
    List<MessageInfo> messages,
    boolean hasEarlierMessages,
    List<TaskInfo> tasks,
    @Nullable List<JsonNode> pendingInputs,
    @Nullable List<JsonNode> pendingAuths,
    List<ArtifactInfo> artifacts,
    List<PartialText> partialTexts,
    List<UsageInfo> usage,
    @Nullable ObjectNode state) {

  /// Text of a block that is still being streamed.
  public record PartialText(TaskId taskId, @Nullable BlockId blockId, long firstSeq, String text) {}
}
