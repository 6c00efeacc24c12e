package dev.parley.bench;

import dev.parley.protocol.ContentEvent.ContentDelta;
import java.time.Duration;
import java.util.function.Consumer;

/// Receives each text that is appended to the first context of a log, in the process of the log.
final class AppendedTextReader implements AutoCloseable {

  private static final Duration WAIT = Duration.ofMillis(100);
  private static final int PAGE = 1_000;

  private final ParleyAppender appender;
  private final Consumer<String> receiver;
  private final Thread thread;
  private volatile boolean closed;

  AppendedTextReader(ParleyAppender appender, Consumer<String> receiver) {
    this.appender = appender;
    this.receiver = receiver;
    thread = Thread.ofVirtual().start(this::run);
  }

  private void run() {
    var log = appender.log();
    var context = appender.context(0);
    var after = log.head(context);
    try {
      while (!closed) {
        if (!log.await(context, after, WAIT)) {
          continue;
        }
        for (var entry : log.read(context, after, PAGE)) {
          if (entry.event() instanceof ContentDelta delta) {
            receiver.accept(delta.delta());
          }
          after = entry.position();
        }
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException later) {
      Thread.currentThread().interrupt();
    }
  }
}
