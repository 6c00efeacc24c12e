package dev.parley.api;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextFacts;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Changes the titles and metadata of contexts.
///
/// An update replaces all metadata, so a caller that keeps some of them must have read the latest
/// ones. Callers therefore hold a lock while they read and append. A guard on the position would
/// avoid the lock, but would reject every update while an agent writes. For many threads.
public final class ContextEditor {

  private static final int TITLE_MAX = 500;
  private static final int LOCKS = 64;

  private final EventLog log;
  private final Views views;
  private final List<ReentrantLock> locks =
      Stream.generate(ReentrantLock::new).limit(LOCKS).toList();

  public ContextEditor(EventLog log, Views views) {
    this.log = log;
    this.views = views;
  }

  /// Rejects an invalid title. Null is valid.
  ///
  /// @throws Rejection.Invalid if the title is invalid
  public static void checkTitle(@Nullable String title) {
    if (title != null && (title.isBlank() || title.length() > TITLE_MAX)) {
      throw new Rejection.Invalid("title must have 1 to " + TITLE_MAX + " characters");
    }
  }

  /// Replaces the title, or the metadata except those of sessions, or both.
  ///
  /// @throws Rejection.Invalid if neither is given, or if the title is invalid
  public void replace(
      ContextId context, @Nullable String title, @Nullable ObjectNode metadata, String principal) {
    checkTitle(title);
    if (title == null && metadata == null) {
      throw new Rejection.Invalid("title or metadata is required");
    }
    change(
        context,
        before -> {
          var after =
              metadata == null ? null : ContextFacts.withSessionOf(before.metadata(), metadata);
          return List.of(EventDraft.of(new ContextUpdated(title, after, principal)));
        });
  }

  /// Appends the events that `change` returns for the current context. The metadata cannot change
  /// meanwhile.
  public void change(ContextId context, Function<ContextView, List<EventDraft>> change) {
    var lock = locks.get(Math.floorMod(context.hashCode(), LOCKS));
    lock.lock();
    try {
      var drafts = change.apply(views.context(context));
      log.append(context, AppendGuard.none(), Decision.always(drafts.toArray(EventDraft[]::new)));
    } finally {
      lock.unlock();
    }
  }
}
