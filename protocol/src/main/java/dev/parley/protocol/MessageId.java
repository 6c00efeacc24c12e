package dev.parley.protocol;

/// Identifies a message of a context.
public record MessageId(String value) implements Id {

  public MessageId {
    Id.check("messageId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
