package dev.parley.task;

/// A named point in the code at which tests can end the process, to check the state after a crash.
@FunctionalInterface
public interface FailPoint {

  /// Never ends the process.
  FailPoint NONE = _ -> {};

  /// Called when execution reaches the point.
  void reach(String name);
}
