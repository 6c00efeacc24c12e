package dev.parley.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What a person or an agent said.
public sealed interface MessageEvent extends Event {

  /// The message that is meant.
  MessageId messageId();

  /// Somebody said something.
  record Message(
      MessageId messageId,
      Role role,
      String content,
      @Nullable List<JsonNode> parts,
      @Nullable ObjectNode metadata)
      implements MessageEvent {
    public Message {
      parts = parts == null ? null : List.copyOf(parts);
    }
  }

  /// A message was edited; the earlier text stays in the log.
  record MessageUpdated(MessageId messageId, String content, @Nullable ObjectNode metadata)
      implements MessageEvent {}

  /// A message was hidden.
  record MessageDeleted(MessageId messageId) implements MessageEvent {}

  /// Who speaks.
  enum Role implements WireName {
    USER,
    ASSISTANT,
    SYSTEM
  }
}
