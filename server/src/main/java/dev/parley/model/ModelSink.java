package dev.parley.model;

/// Receives a model's output while it is generated. A method that blocks slows the model down.
public interface ModelSink {

  /// A piece of the answer.
  void text(String piece) throws InterruptedException;

  /// A piece of the model's thinking. Consecutive pieces form one thought.
  void thinking(String piece) throws InterruptedException;

  /// A complete thought.
  void thought(ModelThought modelThought) throws InterruptedException;

  /// The request is about to be retried. The text of the failed attempt is discarded.
  void retry(ModelRetry modelRetry) throws InterruptedException;
}
