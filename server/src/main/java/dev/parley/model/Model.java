package dev.parley.model;

/// A language model.
public interface Model {

  /// What the model is called where its use is recorded.
  String name();

  /// Asks the model and hands `sink` what it says, as it says it.
  ///
  /// Returns when the model is done. An interrupt ends the question at once. Safe for use by many
  /// threads.
  Reply ask(Prompt prompt, Sink sink) throws InterruptedException;
}
