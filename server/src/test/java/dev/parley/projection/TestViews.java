package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.TestLogs;
import dev.parley.runtime.Time;
import java.nio.file.Path;

/// Opens views in tests.
public final class TestViews {

  static final ViewsRuntime RUNTIME =
      new ViewsRuntime(TestLogs.TIME, TestLogs.THREADS, FatalHandler.NONE);

  private TestViews() {}

  public static Views open(Path file, EventLog log) {
    return new Views(file, log, RUNTIME);
  }

  public static Views open(Path file, EventLog log, Time time) {
    return new Views(file, log, new ViewsRuntime(time, TestLogs.THREADS, FatalHandler.NONE));
  }
}
