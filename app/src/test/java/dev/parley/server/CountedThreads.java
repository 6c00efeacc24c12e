package dev.parley.server;

import dev.parley.runtime.Threads;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;

/// Threads of the JVM, of which a test knows which ones still run. Thread-safe.
final class CountedThreads implements Threads {

  private final Map<String, Integer> running = new TreeMap<>();

  /// The number of running threads, by their name without digits.
  synchronized Map<String, Integer> running() {
    return new TreeMap<>(running);
  }

  synchronized int count() {
    return running.values().stream().mapToInt(Integer::intValue).sum();
  }

  private synchronized void change(String name, int by) {
    running.merge(
        name.replaceAll("[0-9a-f]{8}-.*|\\d+", "#"),
        by,
        (before, change) -> before + change == 0 ? null : before + change);
  }

  private Runnable counted(String name, Runnable work) {
    return () -> {
      change(name, 1);
      try {
        work.run();
      } finally {
        change(name, -1);
      }
    };
  }

  @Override
  public Thread unstarted(String name, Runnable work) {
    return Thread.ofVirtual().name(name).unstarted(counted(name, work));
  }

  @Override
  public ThreadFactory factory(String prefix) {
    var factory = Thread.ofVirtual().name(prefix, 0).factory();
    return work -> factory.newThread(counted(prefix, work));
  }

  @Override
  public ThreadFactory platformFactory(String name) {
    var factory = Thread.ofPlatform().daemon().name(name).factory();
    return work -> factory.newThread(counted(name, work));
  }
}
