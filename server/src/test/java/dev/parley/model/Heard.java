package dev.parley.model;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/// A sink that records its input.
public final class Heard implements Sink {

  private final List<String> texts = new CopyOnWriteArrayList<>();
  private final List<String> thoughts = new CopyOnWriteArrayList<>();
  private final List<Retry> retries = new CopyOnWriteArrayList<>();
  private final CountDownLatch something = new CountDownLatch(1);

  @Override
  public void text(String piece) {
    texts.add(piece);
    something.countDown();
  }

  @Override
  public void thinking(String piece) {
    thoughts.add(piece);
    something.countDown();
  }

  @Override
  public void thought(Thought thought) {
    thoughts.add(thought.content());
    something.countDown();
  }

  @Override
  public void retry(Retry retry) {
    retries.add(retry);
    texts.clear();
  }

  /// Returns the retries.
  public List<Retry> retries() {
    return List.copyOf(retries);
  }

  /// Waits for the first input.
  public void await() {
    try {
      something.await();
    } catch (InterruptedException never) {
      throw new IllegalStateException(never);
    }
  }

  public List<String> pieces() {
    return List.copyOf(texts);
  }

  public String text() {
    return String.join("", texts);
  }

  public String thoughts() {
    return String.join("", thoughts);
  }
}
