package dev.parley.runtime;

import java.util.concurrent.ThreadFactory;

/// Starts the threads of the server. Thread-safe.
///
/// All threads have names. Whoever starts a thread owns it and ends it when it is closed.
public interface Threads {

  /// Starts a virtual thread: for code that blocks.
  default Thread start(String name, Runnable work) {
    var thread = unstarted(name, work);
    thread.start();
    return thread;
  }

  /// A virtual thread that the caller starts.
  Thread unstarted(String name, Runnable work);

  /// Creates virtual threads with the names `prefix0`, `prefix1`, and so on.
  ThreadFactory factory(String prefix);

  /// Starts a platform thread that does not keep the process alive: for native calls, pipes of
  /// processes, and foreign code that may never end.
  default Thread startPlatform(String name, Runnable work) {
    var thread = platformFactory(name).newThread(work);
    thread.start();
    return thread;
  }

  /// A platform thread that keeps the process alive until it ends. The caller starts it.
  default Thread unstartedEssential(String name, Runnable work) {
    var thread = platformFactory(name).newThread(work);
    thread.setDaemon(false);
    return thread;
  }

  /// Creates platform threads with this name that do not keep the process alive.
  ThreadFactory platformFactory(String name);
}
