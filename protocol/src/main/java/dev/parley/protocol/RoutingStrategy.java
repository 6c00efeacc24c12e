package dev.parley.protocol;

/// How several agents work together on a task.
public enum RoutingStrategy implements WireName {
  SINGLE,
  PARALLEL,
  SEQUENTIAL,
  DELEGATE
}
