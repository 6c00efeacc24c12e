package dev.parley.server;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// Collects what the server logs as errors, and every stack trace.
final class LoggedErrors implements AutoCloseable {

  private final List<String> found = new CopyOnWriteArrayList<>();
  private final Logger root = Logger.getLogger("");
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord entry) {
          var severe = entry.getLevel().intValue() >= Level.SEVERE.intValue();
          if (severe || entry.getThrown() != null) {
            found.add(text(entry));
          }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };

  LoggedErrors() {
    handler.setLevel(Level.INFO);
    root.addHandler(handler);
  }

  private static String text(LogRecord entry) {
    var text = new StringWriter();
    text.append(entry.getLevel() + " " + entry.getLoggerName() + ": " + entry.getMessage());
    if (entry.getThrown() != null) {
      text.append('\n');
      entry.getThrown().printStackTrace(new PrintWriter(text));
    }
    return text.toString();
  }

  List<String> found() {
    return List.copyOf(found);
  }

  @Override
  public void close() {
    root.removeHandler(handler);
  }
}
