package dev.parley.stream;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Adapts how many entries of a log are read at once, so that large entries do not fill the memory
/// while a reader is slow. For one thread.
public final class ReadSize {

  /// The target size of a read; a larger entry is read alone.
  private static final int SIZE = 256 * 1024;

  private static final int MIN = 4;
  private static final int MAX = 256;

  /// The size of an entry besides its text.
  private static final int OVERHEAD = 256;

  /// The average size of recent entries. The initial value is a conservative guess.
  private long averageSize = 8 * 1024;

  /// How many entries to read.
  public int next() {
    return Math.clamp(SIZE / averageSize, MIN, MAX);
  }

  /// The first of the entries that were read, at least one, up to the target size. The others must
  /// be read again.
  public List<Entry> truncate(List<Entry> read) {
    var taken = 0;
    var size = 0L;
    for (; taken < read.size() && size < SIZE; taken++) {
      size += size(read.get(taken).event());
    }
    if (taken > 0) {
      averageSize = size / taken;
    }
    // A copy, so that the other entries can be collected.
    return taken == read.size() ? read : List.copyOf(read.subList(0, taken));
  }

  private static long size(Event event) {
    return OVERHEAD
        + switch (event) {
          case ContentDelta delta -> delta.delta().length();
          case ContentComplete complete -> complete.content().length();
          case ThoughtStream thought -> thought.content().length();
          case Message message -> message.content().length() + text(message.parts());
          case MessageUpdated message -> message.content().length();
          case FileWrite file -> file.data().length();
          case DataWrite write -> text(write.data());
          case DatasetWrite write -> text(write.rows());
          case ToolStart start -> text(start.arguments());
          case ToolComplete complete -> text(complete.result());
          case StateUpdated state -> text(state.delta());
          case InternalRaw raw -> raw.line().length();
          default -> 0; // A guess is enough, and the others are small.
        };
  }

  private static long text(@Nullable Object json) {
    return json == null ? 0 : json.toString().length();
  }
}
