package dev.parley.app;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/// Handles signals, such as Ctrl-C.
///
/// The JDK's only way to do this is `sun.misc.Signal`, which causes a compiler warning; so it is
/// called by reflection. If it is missing, signals keep their default effect.
final class SignalHandlers {

  private SignalHandlers() {}

  /// Runs `action` whenever the signal (`INT`, `TERM`) arrives. False if that is not possible.
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
