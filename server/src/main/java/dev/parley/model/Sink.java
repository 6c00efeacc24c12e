package dev.parley.model;

/// Takes what a model says while it says it; may make the model wait.
public interface Sink {

  /// A piece of the answer.
  void text(String piece) throws InterruptedException;

  /// A piece of the model's own thinking; pieces that follow each other are one thought.
  void thinking(String piece) throws InterruptedException;

  /// A whole thought.
  void thought(Thought thought) throws InterruptedException;

  /// The model is about to be asked again. The text that the failed attempt gave no longer counts.
  void retry(Retry retry) throws InterruptedException;
}
