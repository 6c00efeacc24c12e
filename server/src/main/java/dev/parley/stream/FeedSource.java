package dev.parley.stream;

import dev.parley.log.EventLog;
import dev.parley.projection.ContextFeed;
import dev.parley.projection.VisibleContexts;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The events of all visible contexts, in one order that can be resumed.
///
/// Within a context the order is that of its log. For one thread at a time.
public final class FeedSource implements Subscription.Source<ContextFeed.FeedCursor> {

  private static final int MOVES = 256;

  /// An entry, and the cursor after it. If `entry` is null, the context was deleted.
  public record FeedItem(ContextFeed.FeedCursor cursor, ContextId context, @Nullable Entry entry) {}

  private final EventLog log;
  private final ContextFeed contextFeed;
  private final Supplier<VisibleContexts> visible;
  private final Deque<ContextFeed.FeedEntry> moves = new ArrayDeque<>();
  private final ReadSize readSize = new ReadSize();
  private ContextFeed.FeedCursor next;

  /// Reads entries after `from`.
  FeedSource(
      EventLog log,
      ContextFeed contextFeed,
      Supplier<VisibleContexts> visible,
      ContextFeed.FeedCursor from) {
    this.log = log;
    this.contextFeed = contextFeed;
    this.visible = visible;
    this.next = from;
  }

  @Override
  public boolean await(ContextFeed.FeedCursor feedCursor, Duration patience)
      throws InterruptedException {
    return !moves.isEmpty() || contextFeed.await(next, patience);
  }

  @Override
  public EventLog.ChangeRegistration listen(Runnable listener) {
    return contextFeed.listen(listener);
  }

  @Override
  public ContextFeed.FeedCursor skip(Rejection.Invalid lost) {
    next = contextFeed.end();
    return next;
  }

  /// The cursor after all entries, if all that were found have been read.
  Optional<ContextFeed.FeedCursor> reached() {
    return moves.isEmpty() ? Optional.of(next) : Optional.empty();
  }

  /// The next entries; empty if there are none yet, or none that is visible.
  ///
  /// @throws Rejection.Invalid `cursor-lost` if the cursor is too old
  List<FeedItem> read() {
    if (moves.isEmpty()) {
      var feedPage = contextFeed.readAfter(next, MOVES);
      var now = visible.get();
      feedPage.entries().stream()
          .filter(feedEntry -> now.contains(feedEntry.context(), feedEntry.owner()))
          .forEach(moves::add);
      next = feedPage.next();
    }
    var feedEntry = moves.peek();
    if (feedEntry == null) {
      return List.of();
    }
    var seen =
        feedEntry.to() == null
            ? List.of(new FeedItem(feedEntry.cursor(), feedEntry.context(), null))
            : read(feedEntry, feedEntry.to());
    // Removed only after reading: if reading fails, it is read again.
    moves.remove();
    var reached = seen.isEmpty() ? null : seen.getLast().cursor().within();
    if (reached != null && feedEntry.to() != null && feedEntry.to().after(reached)) {
      // The rest of it stays first in the queue.
      moves.addFirst(
          new ContextFeed.FeedEntry(
              feedEntry.cursor(), feedEntry.context(), feedEntry.owner(), reached, feedEntry.to()));
    }
    return seen;
  }

  private List<FeedItem> read(ContextFeed.FeedEntry feedEntry, Position to) {
    try {
      return readSize
          .truncate(log.read(feedEntry.context(), feedEntry.from(), readSize.next()))
          .stream()
          .takeWhile(entry -> !entry.position().after(to))
          .map(
              entry ->
                  new FeedItem(
                      feedEntry.cursor().within(entry.position()), feedEntry.context(), entry))
          .toList();
    } catch (Rejection.Gone | Rejection.NotFound | Rejection.Damaged unreadable) {
      // The deletion follows later, as a separate move.
      return List.of();
    }
  }
}
