package dev.parley.protocol;

/// Whether a user or another task started a task.
public enum AgentLevel implements WireName {
  CORE,
  SUBAGENT
}
