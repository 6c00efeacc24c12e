package dev.parley.protocol;

/// Identifies one tool call that spawned one or more sub-agents.
public record InvocationId(String value) implements Id {

  public InvocationId {
    Id.check("invocationId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
