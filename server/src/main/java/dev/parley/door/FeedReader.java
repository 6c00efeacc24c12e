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

/// Reads what happens in all contexts of some owners, in one order that can be taken up again.
///
/// Within a context that order is the log's. For one thread.
public final class FeedReader {

  private static final int MOVES = 256;

  /// An entry, and where to go on after it; if there is none, the context was deleted.
  public record Seen(Feed.Cursor cursor, ContextId context, @Nullable Entry entry) {}

  private final EventLog log;
  private final Feed feed;
  private final Set<String> owners;
  private final Deque<Feed.Move> moves = new ArrayDeque<>();
  private final Stride stride = new Stride();
  private Feed.Cursor next;

  /// Reads on after `from`.
  public FeedReader(EventLog log, Feed feed, Set<String> owners, Feed.Cursor from) {
    this.log = log;
    this.feed = feed;
    this.owners = Set.copyOf(owners);
    this.next = from;
  }

  /// Where to go on, once all that was found has been read.
  public Optional<Feed.Cursor> reached() {
    return moves.isEmpty() ? Optional.of(next) : Optional.empty();
  }

  /// Waits for more to read. False if `patience` ran out first.
  public boolean await(Duration patience) throws InterruptedException {
    return !moves.isEmpty() || feed.await(next, patience);
  }

  /// Some of what is next; empty if there is nothing yet, or nothing that concerns these owners.
  ///
  /// @throws Rejection.Invalid `cursor-lost` if what follows the cursor is no longer known
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
    // Not before it was read: if that fails, it is read again.
    moves.remove();
    var reached = seen.isEmpty() ? null : seen.getLast().cursor().within();
    if (reached != null && move.to() != null && move.to().after(reached)) {
      // The rest of it stays first in line.
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
      // That it was deleted comes later, as a move of its own.
      return List.of();
    }
  }
}
