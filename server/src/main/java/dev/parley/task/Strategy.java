package dev.parley.task;

import dev.parley.protocol.WireName;

/// How the agents that work on a task work together.
public enum Strategy implements WireName {
  SINGLE,
  PARALLEL,
  SEQUENTIAL,
  DELEGATE
}
