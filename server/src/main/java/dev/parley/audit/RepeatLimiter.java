package dev.parley.audit;

import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Limits how many equal events are recorded within a window of time, so that a flood of refused
/// requests does not fill the disk. The monitor guards the map.
final class RepeatLimiter {

  private static final int WINDOWS_MAX = 10_000;

  private final int max;
  private final long windowNanos;
  private final Time time;

  /// The windows that are open, oldest first.
  private final Map<List<String>, Window> windows = new LinkedHashMap<>();

  private static final class Window {
    private final long beginNanos;
    private final AuditEvent event;
    private int count;

    Window(long beginNanos, AuditEvent event) {
      this.beginNanos = beginNanos;
      this.event = event;
    }
  }

  /// @param max how many equal events of a window are recorded one by one
  RepeatLimiter(int max, Duration window, Time time) {
    this.max = max;
    this.windowNanos = window.toNanos();
    this.time = time;
  }

  /// Counts an event. True if it must be recorded. Events with the same `key` are equal.
  synchronized boolean count(List<String> key, AuditEvent event) {
    var window = windows.computeIfAbsent(key, _ -> new Window(time.nanos(), event));
    window.count++;
    return window.count <= max;
  }

  /// Ends the windows whose time is over, or all of them, and returns an event for each of them that
  /// had more events than were recorded.
  synchronized List<AuditEvent> takeSummaries(boolean all) {
    var summaries = new ArrayList<AuditEvent>();
    var now = time.nanos();
    var each = windows.values().iterator();
    while (each.hasNext()) {
      var window = each.next();
      if (!all && windows.size() <= WINDOWS_MAX && now - window.beginNanos < windowNanos) {
        break;
      }
      each.remove();
      if (window.count > max) {
        summaries.add(window.event.with("repeated", Integer.toString(window.count - max)));
      }
    }
    return summaries;
  }
}
