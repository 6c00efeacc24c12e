package dev.parley.task;

import dev.parley.protocol.WireName;

/// How several agents work together on a task.
public enum RoutingStrategy implements WireName {
  SINGLE,
  PARALLEL,
  SEQUENTIAL,
  DELEGATE
}
