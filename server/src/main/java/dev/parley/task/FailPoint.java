package dev.parley.task;

/// A place in the code at which tests can end the process, to see what a crash there leaves behind.
@FunctionalInterface
public interface FailPoint {

  /// Goes on, always.
  FailPoint NONE = _ -> {};

  /// The code has come to this place.
  void reach(String name);
}
