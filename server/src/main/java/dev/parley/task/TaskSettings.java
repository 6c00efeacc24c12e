package dev.parley.task;

/// The agents, folders and limits of tasks.
public record TaskSettings(
    AgentDirectory agents, Workspaces workspaces, TaskLimits limits, FailPoint failPoint) {}
