package dev.parley.embed;

import dev.parley.protocol.AgentTypeId;

/// Work for another agent, which receives only this prompt.
public record Handed(AgentTypeId agent, String prompt) {

  /// Work for the agent with this id.
  public static Handed to(String agent, String prompt) {
    return new Handed(new AgentTypeId(agent), prompt);
  }
}
