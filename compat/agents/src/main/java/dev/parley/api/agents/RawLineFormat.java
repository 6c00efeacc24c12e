package dev.parley.api.agents;

import dev.parley.log.EventLog;
import dev.parley.projection.PrecedingEntries;
import dev.parley.projection.Views;
import dev.parley.protocol.Entry;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.TaskEvent.TaskCreated;
import java.util.ArrayList;
import java.util.List;

/// Encodes the original lines of a program.
///
/// If the text of a line is stored in a later event, the line is complete only with that event. It
/// is sent then, and so are the lines between them, to keep the order.
final class RawLineFormat extends ProxyFormat {

  /// How many lines wait behind one that is not complete; further lines do not wait.
  private static final int WAITING_MAX = 100;

  /// How many lines before an event to search for its text.
  private static final int LINES_MAX = 1_000;

  private final PrecedingEntries preceding;

  RawLineFormat(EventLog log, Views views) {
    super(log, views);
    this.preceding = new PrecedingEntries(log);
  }

  @Override
  List<String> lines(Entry entry) {
    if (entry.event() instanceof InternalRaw raw) {
      var run = new ArrayList<>(run(entry, WAITING_MAX));
      run.add(raw);
      return waits(run, run.size() - 1) ? List.of() : printed(raw.line());
    }
    var text = InternalRaw.textOf(entry.event());
    if (text == null) {
      return List.of();
    }
    var run = run(entry, LINES_MAX);
    var lines = new ArrayList<String>();
    for (var i = 0; i < run.size(); i++) {
      if (waits(run, i)) {
        lines.addAll(printed(run.get(i).line(text)));
      }
    }
    return lines;
  }

  /// The lines of the entry's task since the last event that could complete a line.
  private List<InternalRaw> run(Entry entry, int max) {
    return preceding
        .find(
            entry,
            earlier -> earlier.event() instanceof InternalRaw,
            earlier ->
                earlier.event() instanceof TaskCreated
                    || InternalRaw.textOf(earlier.event()) != null,
            max)
        .stream()
        .map(earlier -> (InternalRaw) earlier.event())
        .toList();
  }

  /// True if this line, or one shortly before it, is not complete.
  private static boolean waits(List<InternalRaw> run, int index) {
    return run.subList(Math.max(0, index - WAITING_MAX), index + 1).stream()
        .anyMatch(raw -> raw.cut() != null);
  }

  private static List<String> printed(String line) {
    return line.indexOf('\n') < 0 ? List.of(line.replace("\r", "")) : List.of();
  }
}
