package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What a person or an agent said. `principal` is the person who did it, and is missing if an agent or the server did.
public sealed interface MessageEvent extends Event {

  /// The message that is meant.
  MessageId messageId();

  /// Somebody said something.
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

    /// What no person said.
    public Message(
        MessageId messageId,
        Role role,
        String content,
        @Nullable List<JsonNode> parts,
        @Nullable ObjectNode metadata) {
      this(messageId, role, content, parts, metadata, null);
    }
  }

  /// A message was edited; the earlier text stays in the log.
  record MessageUpdated(
      MessageId messageId,
      String content,
      @Nullable ObjectNode metadata,
      @Nullable String principal)
      implements MessageEvent {
    /// An edit of nobody's.
    public MessageUpdated(MessageId messageId, String content, @Nullable ObjectNode metadata) {
      this(messageId, content, metadata, null);
    }
  }

  /// A message was hidden.
  record MessageDeleted(MessageId messageId, @Nullable String principal) implements MessageEvent {
    /// Hidden by nobody.
    public MessageDeleted(MessageId messageId) {
      this(messageId, null);
    }
  }

  /// Who speaks.
  enum Role implements WireName {
    USER,
    ASSISTANT,
    SYSTEM
  }
}
