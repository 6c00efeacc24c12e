package dev.parley.api.chat;

import dev.parley.log.EventLog;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

/// Finds facts in the log before an entry that the entry itself does not repeat.
final class PrecedingEvents {

  private static final int PAGE = 64;

  /// How many events to search before the end of a task: related events are in the same append.
  private static final int APPEND_MAX = 8;

  private final EventLog log;

  PrecedingEvents(EventLog log) {
    this.log = log;
  }

  /// The answer of the root task that ended with this entry.
  Optional<Message> answer(Entry end) {
    return findInAppend(end, entry -> sameTask(end, entry) && entry.event() instanceof Message)
        .map(entry -> (Message) entry.event())
        .filter(message -> message.role() == Role.ASSISTANT);
  }

  /// The error of the task that failed with this entry.
  Optional<ErrorReported> error(Entry end) {
    return findInAppend(
            end,
            entry ->
                sameTask(end, entry)
                    && entry.event() instanceof ErrorReported error
                    && error.scope() == ErrorScope.TASK)
        .map(entry -> (ErrorReported) entry.event());
  }

  /// The origin of the subtask whose end this entry reports to its parent.
  Optional<Origin> subtaskOrigin(Entry told, TaskId subtask) {
    return findInAppend(told, entry -> subtask.equals(entry.taskId())).map(Entry::origin);
  }

  /// True if the block that this entry completes was streamed in deltas.
  boolean wasStreamed(Entry end, ContentComplete complete) {
    return findBefore(
            end, Integer.MAX_VALUE, entry -> sameTask(end, entry) && delimits(entry, complete))
        .filter(entry -> entry.event() instanceof ContentDelta)
        .isPresent();
  }

  /// The block in which the entry's task was interrupted, if that is its latest block.
  Optional<BlockId> interruptedBlock(Entry first) {
    return findBefore(
            first,
            Integer.MAX_VALUE,
            entry ->
                sameTask(first, entry)
                    && (entry.event() instanceof TaskCreated
                        || entry.event() instanceof ContentComplete))
        .map(Entry::event)
        .filter(ContentComplete.class::isInstance)
        .map(ContentComplete.class::cast)
        .filter(end -> end.finishReason() == FinishReason.INTERRUPTED)
        .flatMap(end -> Optional.ofNullable(end.blockId()));
  }

  /// A task writes one block after another: the end of the previous block precedes a block's
  /// deltas.
  private static boolean delimits(Entry entry, ContentComplete complete) {
    return entry.event() instanceof TaskCreated
        || entry.event() instanceof ContentComplete
        || (entry.event() instanceof ContentDelta delta
            && Objects.equals(delta.blockId(), complete.blockId()));
  }

  private static boolean sameTask(Entry one, Entry other) {
    return one.taskId() != null && one.taskId().equals(other.taskId());
  }

  private Optional<Entry> findInAppend(Entry entry, Predicate<Entry> wanted) {
    return findBefore(entry, APPEND_MAX, wanted);
  }

  private Optional<Entry> findBefore(Entry entry, int most, Predicate<Entry> wanted) {
    var end = entry.position();
    for (var looked = 0; looked < most && end.seq() > 0; looked += PAGE) {
      var page = Math.min(PAGE, most);
      var after = new Position(Math.max(0, end.seq() - page), 0);
      var found = between(entry, after, end).reversed().stream().filter(wanted).findFirst();
      if (found.isPresent()) {
        return found;
      }
      end = after.nextInternal();
      if (after.seq() == 0) {
        break;
      }
    }
    return Optional.empty();
  }

  private List<Entry> between(Entry entry, Position after, Position before) {
    var entries = new ArrayList<Entry>();
    var page = log.read(entry.contextId(), after, PAGE);
    while (!page.isEmpty()) {
      for (var read : page) {
        if (!before.after(read.position())) {
          return entries;
        }
        entries.add(read);
      }
      page = log.read(entry.contextId(), page.getLast().position(), PAGE);
    }
    return entries;
  }
}
