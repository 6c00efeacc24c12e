package dev.parley.protocol;

/// Identifies a configured agent.
public record AgentTypeId(String value) implements Id {

  public AgentTypeId {
    Id.check("agentId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
