package dev.parley.protocol;

/// Whether a task was started by a person or by another task.
public enum AgentLevel implements WireName {
  CORE,
  SUBAGENT
}
