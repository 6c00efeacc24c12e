package dev.parley.protocol;

/// Names one tool call that spawned one or more sub-agents.
public record InvocationId(String value) implements Id {

  public InvocationId {
    Id.check("invocationId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
