package dev.parley.app;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/// Takes a signal, such as Ctrl-C, instead of dying from it.
///
/// The JDK has one way to do this, `sun.misc.Signal`, which cannot be named without a compiler
/// warning. Where it is missing, signals keep their usual effect.
final class Signals {

  private Signals() {}

  /// Runs `action` whenever the signal (`INT`, `TERM`) comes. False if that cannot be had.
  static boolean handle(String name, Runnable action) {
    try {
      var signal = Class.forName("sun.misc.Signal");
      var handler = Class.forName("sun.misc.SignalHandler");
      var proxy =
          Proxy.newProxyInstance(
              handler.getClassLoader(), new Class<?>[] {handler}, handlerOf(action));
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
      return true;
    } catch (ReflectiveOperationException missing) {
      return false;
    }
  }

  private static InvocationHandler handlerOf(Runnable action) {
    return (_, method, _) ->
        switch (method.getName()) {
          case "handle" -> {
            action.run();
            yield null;
          }
          case "hashCode" -> 0;
          case "equals" -> false;
          default -> "Signals";
        };
  }
}
