package dev.parley.projection;

import dev.parley.log.FatalHandler;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;

/// Time, threads, and the handler that is called if a thread of the views fails.
public record ViewsRuntime(Time time, Threads threads, FatalHandler fatal) {

  ViewsRuntime withoutFatal() {
    return new ViewsRuntime(time, threads, FatalHandler.NONE);
  }
}
