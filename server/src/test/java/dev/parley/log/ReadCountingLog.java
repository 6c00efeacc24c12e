package dev.parley.log;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;

/// Counts the reads of a log, except those of the projections, which follow it at their own pace.
public final class ReadCountingLog {

  private ReadCountingLog() {}

  /// The same log, with its reads counted.
  public static EventLog of(EventLog log, AtomicInteger reads) {
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              var follows = Thread.currentThread().getName().startsWith("views");
              if (method.getName().equals("read") && !follows) {
                reads.incrementAndGet();
              }
              try {
                return method.invoke(log, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }
}
