package dev.parley.door;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.view.Feed;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads the entries of all contexts of some owners, in one order that can be resumed.
///
/// Within a context the order is that of its log. For one thread.
public final class FeedReader {

  private static final int MOVES = 256;

  /// An entry, and the cursor after it. If `entry` is null, the context was deleted.
  public record Seen(Feed.Cursor cursor, ContextId context, @Nullable Entry entry) {}

  private final EventLog log;
  private final Feed feed;
  private final Set<String> owners;
  private final Deque<Feed.Move> moves = new ArrayDeque<>();
  private final Stride stride = new Stride();
  private Feed.Cursor next;

  /// Reads entries after `from`.
  public FeedReader(EventLog log, Feed feed, Set<String> owners, Feed.Cursor from) {
    this.log = log;
    this.feed = feed;
    this.owners = Set.copyOf(owners);
    this.next = from;
  }

  /// The cursor after all entries, if all that were found have been read.
  public Optional<Feed.Cursor> reached() {
    return moves.isEmpty() ? Optional.of(next) : Optional.empty();
  }

  /// Waits for more to read. False if `patience` ran out first.
  public boolean await(Duration patience) throws InterruptedException {
    return !moves.isEmpty() || feed.await(next, patience);
  }

  /// The next entries; empty if there are none yet, or none of these owners.
  ///
  /// @throws Rejection.Invalid `cursor-lost` if the cursor is too old
  public List<Seen> read() {
    if (moves.isEmpty()) {
      var page = feed.after(next, MOVES);
      page.moves().stream().filter(move -> owners.contains(move.owner())).forEach(moves::add);
      next = page.next();
    }
    var move = moves.peek();
    if (move == null) {
      return List.of();
    }
    var seen =
        move.to() == null
            ? List.of(new Seen(move.cursor(), move.context(), null))
            : read(move, move.to());
    // Removed only after reading: if reading fails, it is read again.
    moves.remove();
    var reached = seen.isEmpty() ? null : seen.getLast().cursor().within();
    if (reached != null && move.to() != null && move.to().after(reached)) {
      // The rest of it stays first in the queue.
      moves.addFirst(
          new Feed.Move(move.cursor(), move.context(), move.owner(), reached, move.to()));
    }
    return seen;
  }

  private List<Seen> read(Feed.Move move, Position to) {
    try {
      return stride.take(log.read(move.context(), move.from(), stride.next())).stream()
          .takeWhile(entry -> !entry.position().after(to))
          .map(entry -> new Seen(move.cursor().within(entry.position()), move.context(), entry))
          .toList();
    } catch (Rejection.Gone | Rejection.NotFound | Rejection.Damaged unreadable) {
      // The deletion follows later, as a separate move.
      return List.of();
    }
  }
}
