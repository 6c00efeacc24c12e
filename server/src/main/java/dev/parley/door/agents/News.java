package dev.parley.door.agents;

import dev.parley.door.Pages;
import dev.parley.door.Stride;
import dev.parley.log.EventLog;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.view.Feed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Notices about all agents, read once for all subscribers. For many threads.
final class News {

  private static final int MOVES = 64;
  private static final int NOTICES_MAX = 10_000;

  /// A notice for callers that may see the contexts of `owner`.
  sealed interface Notice {

    String owner();

    /// An agent was created.
    record Created(String owner, TaskId agent) implements Notice {}

    /// An agent's status has changed.
    record Changed(String owner, TaskId agent, AgentStatus status) implements Notice {}

    /// A context was deleted, with its agents.
    record Deleted(String owner, ContextId context) implements Notice {}
  }

  /// A page of notices, with the cursors before and after it.
  record Page(Feed.Cursor after, List<Notice> notices, Feed.Cursor next) {
    Page {
      notices = List.copyOf(notices);
    }
  }

  private final EventLog log;
  private final Feed feed;
  private final Pages<Feed.Cursor, Page> pages = new Pages<>(NOTICES_MAX, News::weight);

  News(EventLog log, Feed feed) {
    this.log = log;
    this.feed = feed;
  }

  /// The cursor after all present notices.
  Feed.Cursor end() {
    return feed.end();
  }

  /// Waits until there may be more after `cursor`.
  boolean await(Feed.Cursor cursor, Duration patience) throws InterruptedException {
    return feed.await(cursor, patience);
  }

  /// The notices after `cursor`.
  ///
  /// @throws Rejection.Invalid `cursor-lost` if the cursor is too old
  Page after(Feed.Cursor cursor) throws InterruptedException {
    return pages.get(cursor, () -> read(cursor));
  }

  private static long weight(Page page) {
    return page.next().equals(page.after()) ? 0 : 1 + page.notices().size();
  }

  private Page read(Feed.Cursor cursor) {
    var page = feed.after(cursor, MOVES);
    var notices = new ArrayList<Notice>();
    for (var move : page.moves()) {
      if (move.to() == null) {
        notices.add(new Notice.Deleted(move.owner(), move.context()));
      } else {
        read(move, move.to(), notices);
      }
    }
    return new Page(cursor, notices, page.next());
  }

  private void read(Feed.Move move, Position to, List<Notice> notices) {
    var stride = new Stride();
    var position = move.from();
    try {
      while (to.after(position)) {
        var entries = stride.take(log.read(move.context(), position, stride.next()));
        if (entries.isEmpty()) {
          return;
        }
        entries.stream()
            .takeWhile(entry -> !entry.position().after(to))
            .forEach(entry -> notice(move.owner(), entry, notices));
        position = entries.getLast().position();
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      // The deletion follows later, as a separate move.
    }
  }

  private static void notice(String owner, Entry entry, List<Notice> notices) {
    var origin = entry.origin();
    if (origin == null || origin.parentTaskId() != null) {
      return;
    }
    switch (entry.event()) {
      case TaskCreated _ -> notices.add(new Notice.Created(owner, origin.taskId()));
      case TaskStatus status ->
          notices.add(new Notice.Changed(owner, origin.taskId(), AgentStatus.of(status.status())));
      default -> {} // Only subscribers of the agent get it.
    }
  }
}
