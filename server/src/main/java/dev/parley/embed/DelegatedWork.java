package dev.parley.embed;

import dev.parley.protocol.AgentTypeId;

/// Work for another agent, which receives only this prompt.
public record DelegatedWork(AgentTypeId agent, String prompt) {

  /// Work for the agent with this id.
  public static DelegatedWork to(String agent, String prompt) {
    return new DelegatedWork(new AgentTypeId(agent), prompt);
  }
}
