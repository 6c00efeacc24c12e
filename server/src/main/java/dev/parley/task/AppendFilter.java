package dev.parley.task;

import dev.parley.protocol.Event;
import dev.parley.protocol.ReportEvent.InternalRaw;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/// Filters a list of events that is about to be appended.
public final class AppendFilter {

  private AppendFilter() {}

  /// The events that `wanted` accepts. If a raw line omitted its text because a dropped event has
  /// it, the text is put back into the line.
  public static List<Event> of(List<? extends Event> events, Predicate<Event> wanted) {
    var left = new ArrayList<Event>();
    for (var event : events) {
      if (wanted.test(event)) {
        left.add(event);
        continue;
      }
      var text = InternalRaw.textOf(event);
      for (var i = left.size() - 1;
          text != null && i >= 0 && left.get(i) instanceof InternalRaw raw;
          i--) {
        left.set(i, new InternalRaw(raw.source(), raw.line(text)));
      }
    }
    return left;
  }
}
