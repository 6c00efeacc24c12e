package dev.parley.model;

/// A language model.
public interface Model {

  /// The name under which usage is recorded.
  String name();

  /// Sends a prompt to the model and passes its output to `sink` as it arrives.
  ///
  /// Returns when the output is complete. An interrupt stops the request at once. Safe for use by
  /// many threads.
  ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException;
}
