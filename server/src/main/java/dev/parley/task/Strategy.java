package dev.parley.task;

import dev.parley.protocol.WireName;

/// How several agents work together on a task.
public enum Strategy implements WireName {
  SINGLE,
  PARALLEL,
  SEQUENTIAL,
  DELEGATE
}
