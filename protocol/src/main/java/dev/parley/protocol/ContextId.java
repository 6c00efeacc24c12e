package dev.parley.protocol;

/// Identifies a context: one log, one order.
public record ContextId(String value) implements Id {

  public ContextId {
    Id.check("contextId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
