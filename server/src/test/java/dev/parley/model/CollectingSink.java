package dev.parley.model;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/// A sink that records its input.
public final class CollectingSink implements ModelSink {

  private final List<String> texts = new CopyOnWriteArrayList<>();
  private final List<String> thoughts = new CopyOnWriteArrayList<>();
  private final List<ModelRetry> retries = new CopyOnWriteArrayList<>();
  private final CountDownLatch received = new CountDownLatch(1);

  @Override
  public void text(String piece) {
    texts.add(piece);
    received.countDown();
  }

  @Override
  public void thinking(String piece) {
    thoughts.add(piece);
    received.countDown();
  }

  @Override
  public void thought(ModelThought modelThought) {
    thoughts.add(modelThought.content());
    received.countDown();
  }

  @Override
  public void retry(ModelRetry modelRetry) {
    retries.add(modelRetry);
    texts.clear();
  }

  /// Returns the retries.
  public List<ModelRetry> retries() {
    return List.copyOf(retries);
  }

  /// Waits for the first input.
  public void await() {
    try {
      received.await();
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
