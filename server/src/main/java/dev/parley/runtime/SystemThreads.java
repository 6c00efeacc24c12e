package dev.parley.runtime;

import java.util.concurrent.ThreadFactory;

/// Threads of the JVM.
public final class SystemThreads implements Threads {

  @Override
  public Thread unstarted(String name, Runnable work) {
    return Thread.ofVirtual().name(name).unstarted(work);
  }

  @Override
  public ThreadFactory factory(String prefix) {
    return Thread.ofVirtual().name(prefix, 0).factory();
  }

  @Override
  public ThreadFactory platformFactory(String name) {
    return Thread.ofPlatform().daemon().name(name).factory();
  }
}
