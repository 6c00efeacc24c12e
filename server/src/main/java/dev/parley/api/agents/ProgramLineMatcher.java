package dev.parley.api.agents;

import dev.parley.projection.EntryNumbering;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.Entry;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskId;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Finds the program's line that a message comes from: the last line of its task before the message
/// that no earlier message has. Takes the entries of a context in order. For one thread.
final class ProgramLineMatcher {

  private final Map<TaskId, InternalRaw> unused = new HashMap<>();

  /// The line of an entry, if there is one.
  @Nullable String take(Entry entry) {
    var task = entry.taskId();
    if (task == null) {
      return null;
    }
    if (entry.event() instanceof InternalRaw raw) {
      unused.put(task, raw);
      return null;
    }
    if (!usesLine(entry)
        || (entry.event() instanceof Usage usage && !reportsTokens(unused.get(task), usage))) {
      return null;
    }
    var raw = unused.remove(task);
    var text = InternalRaw.textOf(entry.event());
    return raw == null ? null : raw.line(text == null ? "" : text);
  }

  /// True if the line contains the number of tokens. Usage that only the final sums of a turn
  /// contain has no line.
  private static boolean reportsTokens(@Nullable InternalRaw raw, Usage usage) {
    var tokens = usage.outputTokens() > 0 ? usage.outputTokens() : usage.inputTokens();
    return raw != null
        && tokens > 0
        && Pattern.compile(":\\s*" + tokens + "(?![\\d.])").matcher(raw.line()).find();
  }

  private static boolean usesLine(Entry entry) {
    return switch (entry.event()) {
      case ContentComplete _ -> true;
      // The last line belongs to the end of the task, which follows.
      case ErrorReported error -> error.scope() != ErrorScope.TASK;
      default -> EntryNumbering.root(entry) != null;
    };
  }
}
