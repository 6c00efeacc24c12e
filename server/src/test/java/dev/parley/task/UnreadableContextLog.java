package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/// A log in which one context cannot be read.
record UnreadableContextLog(EventLog inner, ContextId context) {

  EventLog log() {
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              if (method.getName().equals("inspect") && arguments[0].equals(context)) {
                throw new IllegalStateException("a segment cannot be read");
              }
              try {
                return method.invoke(inner, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }
}
