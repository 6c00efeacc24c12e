package dev.parley.protocol;

/// Identifies one call of a tool; joins call and result.
public record ToolCallId(String value) implements Id {

  public ToolCallId {
    Id.check("toolCallId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
