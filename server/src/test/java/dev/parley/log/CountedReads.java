package dev.parley.log;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;

/// Counts how often a log is read.
public final class CountedReads {

  private CountedReads() {}

  /// The same log, with its reads counted.
  public static EventLog of(EventLog log, AtomicInteger reads) {
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              if (method.getName().equals("read")) {
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
