package dev.parley.model;

/// Takes what a model says while it says it; may make the model wait.
public interface Sink {

  /// A piece of the answer.
  void text(String piece) throws InterruptedException;

  /// A piece of reasoning.
  void thought(Thought thought) throws InterruptedException;
}
