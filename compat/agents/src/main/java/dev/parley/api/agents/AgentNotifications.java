package dev.parley.api.agents;

import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.log.EventLog;
import dev.parley.projection.ContextFeed;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.stream.PageCache;
import dev.parley.stream.ReadSize;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Notices about all agents, read once for all subscribers. For many threads.
final class AgentNotifications {

  private static final int MOVES = 64;
  private static final int NOTICES_MAX = 10_000;

  /// A notice for callers that may see the contexts of `owner`.
  sealed interface AgentNotice {

    String owner();

    ContextId context();

    /// An agent was created.
    record AgentCreated(String owner, ContextId context, TaskId agent) implements AgentNotice {}

    /// An agent's status has changed.
    record AgentStatusChanged(String owner, ContextId context, TaskId agent, AgentStatus status)
        implements AgentNotice {}

    /// A context was deleted, with its agents.
    record AgentsDeleted(String owner, ContextId context) implements AgentNotice {}
  }

  /// A page of notices, with the cursors before and after it.
  record NoticePage(
      ContextFeed.FeedCursor after, List<AgentNotice> notices, ContextFeed.FeedCursor next) {
    NoticePage {
      notices = List.copyOf(notices);
    }
  }

  private final EventLog log;
  private final ContextFeed contextFeed;
  private final PageCache<ContextFeed.FeedCursor, NoticePage> pageCache =
      new PageCache<>(NOTICES_MAX, AgentNotifications::weight);

  AgentNotifications(EventLog log, ContextFeed contextFeed) {
    this.log = log;
    this.contextFeed = contextFeed;
  }

  /// The cursor after all present notices.
  ContextFeed.FeedCursor end() {
    return contextFeed.end();
  }

  /// Waits until there may be more after `cursor`.
  boolean await(ContextFeed.FeedCursor feedCursor, Duration patience) throws InterruptedException {
    return contextFeed.await(feedCursor, patience);
  }

  /// The notices after `cursor`.
  ///
  /// @throws Rejection.Invalid `cursor-lost` if the cursor is too old
  NoticePage after(ContextFeed.FeedCursor feedCursor) throws InterruptedException {
    return pageCache.get(feedCursor, () -> read(feedCursor));
  }

  private static long weight(NoticePage noticePage) {
    return noticePage.next().equals(noticePage.after()) ? 0 : 1 + noticePage.notices().size();
  }

  private NoticePage read(ContextFeed.FeedCursor feedCursor) {
    var feedPage = contextFeed.readAfter(feedCursor, MOVES);
    var notices = new ArrayList<AgentNotice>();
    for (var feedEntry : feedPage.entries()) {
      if (feedEntry.to() == null) {
        notices.add(new AgentNotice.AgentsDeleted(feedEntry.owner(), feedEntry.context()));
      } else {
        read(feedEntry, feedEntry.to(), notices);
      }
    }
    return new NoticePage(feedCursor, notices, feedPage.next());
  }

  private void read(ContextFeed.FeedEntry feedEntry, Position to, List<AgentNotice> notices) {
    var readSize = new ReadSize();
    var position = feedEntry.from();
    try {
      while (to.after(position)) {
        var entries = readSize.truncate(log.read(feedEntry.context(), position, readSize.next()));
        if (entries.isEmpty()) {
          return;
        }
        entries.stream()
            .takeWhile(entry -> !entry.position().after(to))
            .forEach(entry -> addNotice(feedEntry, entry, notices));
        position = entries.getLast().position();
      }
    } catch (Rejection.Gone | Rejection.NotFound deleted) {
      // The deletion follows later, as a separate move.
    }
  }

  private static void addNotice(
      ContextFeed.FeedEntry feedEntry, Entry entry, List<AgentNotice> notices) {
    var owner = feedEntry.owner();
    var context = feedEntry.context();
    var origin = entry.origin();
    if (origin == null || origin.parentTaskId() != null) {
      return;
    }
    switch (entry.event()) {
      case TaskCreated _ ->
          notices.add(new AgentNotice.AgentCreated(owner, context, origin.taskId()));
      case TaskStatus status ->
          notices.add(
              new AgentNotice.AgentStatusChanged(
                  owner, context, origin.taskId(), AgentStatus.of(status.status())));
      default -> {} // Only subscribers of the agent get it.
    }
  }
}
