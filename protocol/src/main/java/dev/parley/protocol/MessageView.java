package dev.parley.protocol;

import dev.parley.protocol.MessageEvent.Role;
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

  /// The text of a message before an edit.
  public record EditView(String content, Instant editedAt) {}
}
