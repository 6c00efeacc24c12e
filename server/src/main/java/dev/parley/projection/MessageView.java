package dev.parley.projection;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A message in its current form: with edits, and neither deleted nor rewound.
public record MessageView(
    MessageId messageId,
    long seq,
    Role role,
    String content,
    @Nullable List<JsonNode> parts,
    @Nullable TaskId taskId,
    @Nullable AgentTypeId agentId,
    Instant createdAt,
    @Nullable Instant editedAt,
    @Nullable ObjectNode metadata) {

  /// What the metadata says.
  public MessageFacts facts() {
    return MessageFacts.of(metadata);
  }
}
