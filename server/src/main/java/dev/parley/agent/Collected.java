package dev.parley.agent;

import dev.parley.model.Sink;
import dev.parley.model.Thought;

/// Keeps what a model says, as far as anybody could mean it, and drops what it thinks. For one thread.
public final class Collected implements Sink {

  private final StringBuilder text = new StringBuilder();

  @Override
  public void text(String piece) {
    if (text.length() + (long) piece.length() <= Scribe.REPLY_MAX) {
      text.append(piece);
    }
  }

  @Override
  public void thinking(String piece) {}

  @Override
  public void thought(Thought thought) {}

  /// All that was said.
  public String text() {
    return text.toString();
  }
}
