package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A message, or a change of one. `principal` is the user who wrote or changed it; missing if an
/// agent or the server did.
public sealed interface MessageEvent extends Event {

  /// The message.
  MessageId messageId();

  /// A user or an agent wrote a message.
  record Message(
      MessageId messageId,
      Role role,
      String content,
      @Nullable List<JsonNode> parts,
      @Nullable ObjectNode metadata,
      @Nullable String principal)
      implements MessageEvent {
    public Message {
      parts = parts == null ? null : List.copyOf(parts);
    }

    /// A message that no user wrote.
    public Message(
        MessageId messageId,
        Role role,
        String content,
        @Nullable List<JsonNode> parts,
        @Nullable ObjectNode metadata) {
      this(messageId, role, content, parts, metadata, null);
    }

    /// What the metadata says.
    public MessageFacts facts() {
      return MessageFacts.of(metadata);
    }
  }

  /// A message was edited. The earlier text stays in the log.
  record MessageUpdated(
      MessageId messageId,
      String content,
      @Nullable ObjectNode metadata,
      @Nullable String principal)
      implements MessageEvent {
    /// An edit that no user made.
    public MessageUpdated(MessageId messageId, String content, @Nullable ObjectNode metadata) {
      this(messageId, content, metadata, null);
    }
  }

  /// A message was deleted from the conversation. Its text stays in the log.
  record MessageDeleted(MessageId messageId, @Nullable String principal) implements MessageEvent {
    /// A deletion that no user made.
    public MessageDeleted(MessageId messageId) {
      this(messageId, null);
    }
  }

  /// The author of a message.
  enum Role implements WireName {
    USER,
    ASSISTANT,
    SYSTEM
  }
}
