package dev.parley.supervisor;

import dev.parley.model.Retry;
import dev.parley.model.Sink;
import dev.parley.model.Thought;

/// Forwards a model's output and records whether there was text. Not thread-safe.
final class Listening implements Sink {

  private final Sink sink;
  private boolean heard;

  Listening(Sink sink) {
    this.sink = sink;
  }

  @Override
  public void text(String piece) throws InterruptedException {
    heard = true;
    sink.text(piece);
  }

  @Override
  public void thinking(String piece) throws InterruptedException {
    sink.thinking(piece);
  }

  @Override
  public void thought(Thought thought) throws InterruptedException {
    sink.thought(thought);
  }

  @Override
  public void retry(Retry retry) throws InterruptedException {
    heard = false;
    sink.retry(retry);
  }

  /// True if the last attempt produced text.
  boolean heard() {
    return heard;
  }
}
