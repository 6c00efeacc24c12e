package dev.parley.supervisor;

import dev.parley.model.ModelRetry;
import dev.parley.model.ModelSink;
import dev.parley.model.ModelThought;

/// Forwards a model's output and records whether there was text. Not thread-safe.
final class RecordingSink implements ModelSink {

  private final ModelSink modelSink;
  private boolean receivedText;

  RecordingSink(ModelSink modelSink) {
    this.modelSink = modelSink;
  }

  @Override
  public void text(String piece) throws InterruptedException {
    receivedText = true;
    modelSink.text(piece);
  }

  @Override
  public void thinking(String piece) throws InterruptedException {
    modelSink.thinking(piece);
  }

  @Override
  public void thought(ModelThought modelThought) throws InterruptedException {
    modelSink.thought(modelThought);
  }

  @Override
  public void retry(ModelRetry modelRetry) throws InterruptedException {
    receivedText = false;
    modelSink.retry(modelRetry);
  }

  /// True if the last attempt produced text.
  boolean receivedText() {
    return receivedText;
  }
}
