package dev.parley.projection;

import dev.parley.log.DatabaseCheck;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.projection.ContextFeed.FeedStart;
import dev.parley.projection.ContextTable.ContextCursor;
import dev.parley.projection.PendingQueries.PendingCursor;
import dev.parley.projection.RecentMessageCache.CachedMessages;
import dev.parley.projection.ViewThread.TableWork;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextSnapshot;
import dev.parley.protocol.ContextSnapshot.UsageView;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.MessageView.EditView;
import dev.parley.protocol.Origin;
import dev.parley.protocol.PendingView;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskEvent.TaskDeleted;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Queries for contexts and their messages, tasks and artifacts. A query first updates the views
/// from the log. Only a list may be outdated: if the views cannot be written and miss many entries.
///
/// All views are folds of the log in a file that can be deleted at any time. A method with a
/// context id throws `NotFound` or `Gone` as the log does, and `Unavailable` while the file cannot
/// be read, or cannot be written and is far behind the log. A list over all contexts also throws it if
/// the views are still so far behind that it would wait too long.
public final class Views implements AutoCloseable {

  static final int PAGE_MAX = 1000;

  /// How many of the last changed contexts are compared with the log when the views are opened.
  private static final int COMPARED_CONTEXTS = 5;

  private static final int FOLDERS_MAX = 100;

  private final EventLog log;
  private final ViewThread thread;
  private final ViewUpdater updater;
  private final ViewCatchUp catchUp;
  private final SnapshotReader snapshotReader;
  private final RecentMessageCache recentMessages;
  private final ContextFeed contextFeed;
  private final ViewRefresher refresher;

  /// Opens the views in `file`. The file is rebuilt if it is missing, corrupt or of another
  /// version.
  public Views(Path file, EventLog log, ViewsRuntime runtime) {
    this(ViewStorage.in(file), log, runtime, FeedStart.CONTINUE);
  }

  /// Opens the views in `storage`, and continues the feed or begins a new one.
  public Views(ViewStorage storage, EventLog log, ViewsRuntime runtime, FeedStart feedStart) {
    this.log = log;
    this.thread = ViewThread.of(storage, runtime);
    var open = false;
    try {
      this.contextFeed = new ContextFeed(log, thread, runtime.time());
      this.updater = new ViewUpdater(log, thread);
      this.catchUp = new ViewCatchUp(log, thread, updater, contextFeed, runtime.time());
      this.snapshotReader = new SnapshotReader(log, runtime);
      this.recentMessages = new RecentMessageCache(log);
      var mark = thread.call(ViewTables::mark);
      if ((mark > 0 && log.changes(mark - 1, 1).mark() < mark) || !matchesLog()) {
        // The log is shorter than the views, or has other entries: these views belong to another
        // log.
        thread.reset();
      }
      if (feedStart == FeedStart.RESTART) {
        thread.call(
            viewTables -> {
              viewTables.feed().restart();
              return true;
            });
      }
      catchUp.start();
      this.refresher = new ViewRefresher(catchUp, thread, contextFeed, runtime);
      open = true;
    } finally {
      if (!open) {
        thread.close();
      }
    }
  }

  /// Checks the views in `file` without changing them. Returns why the next start rebuilds them, or
  /// empty if it can use them.
  ///
  /// @throws SQLException if a server cannot open the file
  public static Optional<String> whyRebuilt(Path file, Duration patience) throws SQLException {
    var current = new AtomicBoolean();
    try {
      DatabaseCheck.check(
          file, patience, connection -> current.set(ViewSchema.isCurrent(connection)));
    } catch (SQLException failure) {
      if (ViewSchema.broken(failure)) {
        return Optional.of("they are damaged");
      }
      throw failure;
    }
    return current.get() ? Optional.empty() : Optional.of("another version of Parley wrote them");
  }

  /// Returns false if the views contain entries that the log does not have, because it was restored
  /// to an earlier state and then got new entries.
  ///
  /// In that case the last changed contexts in the views differ from the log. A seq may have been
  /// used again, but with another time.
  private boolean matchesLog() {
    for (var foldedContext :
        thread.call(viewTables -> viewTables.contexts().newest(COMPARED_CONTEXTS))) {
      try {
        var at = foldedContext.position();
        var before =
            at.k() > 0
                ? new Position(at.seq(), at.k() - 1)
                : new Position(Math.max(0, at.seq() - 1), Integer.MAX_VALUE);
        var found = log.read(foldedContext.context(), before, 1);
        if (found.isEmpty()
            || !found.getFirst().position().equals(at)
            || found.getFirst().timestamp().toEpochMilli() != foldedContext.millis()) {
          return false;
        }
      } catch (Rejection.NotFound never) {
        return false;
      } catch (Rejection.Gone | Rejection.Damaged nothingToCompare) {
        // It was deleted just before the server stopped, or it is damaged: compare the next one.
      }
    }
    return true;
  }

  public ContextView context(ContextId context) {
    return query(context, viewTables -> viewTables.contexts().find(context)).orElseThrow();
  }

  /// Returns the visible contexts, last changed first.
  ///
  /// A context that changes while a client reads pages moves to the front and is not listed again.
  public ResultPage<ContextView> contexts(
      VisibleContexts visible, @Nullable String cursor, int limit) {
    var from = ContextCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        queryList(viewTables -> viewTables.contexts().page(visible, from, max + 1)),
        max,
        last -> ContextCursor.of(last).toString());
  }

  /// Returns contexts from index `offset` on. The index of a context changes when other contexts
  /// change.
  public List<ContextView> contexts(VisibleContexts visible, long offset, int limit) {
    return queryList(viewTables -> viewTables.contexts().page(visible, offset, clamp(limit)));
  }

  /// Counts the visible contexts.
  public long countContexts(VisibleContexts visible) {
    return queryList(viewTables -> viewTables.contexts().count(visible));
  }

  /// Returns messages after the seq `after`, oldest first.
  public ResultPage<MessageView> messages(ContextId context, long after, int limit) {
    var max = clamp(limit);
    return page(
        query(context, viewTables -> viewTables.messages().page(context, after, max + 1)),
        max,
        last -> Long.toString(last.seq()));
  }

  /// Returns messages from index `offset` on, oldest first.
  public List<MessageView> messagesFrom(ContextId context, long offset, int limit) {
    return query(
        context, viewTables -> viewTables.messages().pageFrom(context, offset, clamp(limit)));
  }

  /// Returns the latest messages, oldest first.
  public List<MessageView> latestMessages(ContextId context, int limit) {
    var max = clamp(limit);
    var known = recentMessages.latest(context, max);
    if (known.isEmpty()) {
      // The cache adds the messages that the views lack. A new task does not wait for their fold.
      recentMessages.put(
          context, thread.callWithoutSaving(viewTables -> latest(viewTables, context, max)));
      known = recentMessages.latest(context, max);
    }
    if (known.isPresent()) {
      return known.get();
    }
    var read = query(context, viewTables -> latest(viewTables, context, max));
    recentMessages.put(context, read);
    return read.messages();
  }

  private static CachedMessages latest(ViewTables viewTables, ContextId context, int limit)
      throws SQLException {
    var at = viewTables.contexts().position(context);
    return CachedMessages.of(at, limit, viewTables.messages().latest(context, limit));
  }

  /// Returns one message, unless it is deleted, rewound or unknown.
  public Optional<MessageView> message(ContextId context, MessageId message) {
    return query(context, viewTables -> viewTables.messages().find(context, message));
  }

  /// Returns messages that were edited or deleted, oldest first, rewound or not.
  public List<CorrectedMessage> correctedMessages(ContextId context) {
    return query(context, viewTables -> viewTables.messages().corrected(context));
  }

  /// Returns the earlier texts of a message, oldest first, each with the time of the edit that
  /// replaced it.
  public List<EditView> edits(ContextId context, MessageView message) {
    return query(context, viewTables -> viewTables.messages().edits(context, message.seq()));
  }

  /// Returns the answer of a task, which may be partial, unless it is deleted or rewound.
  public Optional<MessageView> answerOf(ContextId context, TaskView task) {
    return query(
        context, viewTables -> viewTables.messages().answer(context, task.taskId(), task.seq()));
  }

  /// Returns root tasks that began between two seqs, oldest first, at most 1,000.
  public List<TaskView> rootTasks(ContextId context, long from, long to) {
    return query(context, viewTables -> viewTables.tasks().roots(context, from, to, PAGE_MAX));
  }

  /// Returns tasks, oldest first.
  public ResultPage<TaskView> tasks(ContextId context, @Nullable String cursor, int limit) {
    var after = SeqCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        query(context, viewTables -> viewTables.tasks().page(context, after, max + 1)),
        max,
        last -> Long.toString(last.seq()));
  }

  /// Returns one task, unless it is rewound or unknown.
  public Optional<TaskView> task(ContextId context, TaskId task) {
    return query(context, viewTables -> viewTables.tasks().find(context, task));
  }

  /// Returns one task that was rewound.
  public Optional<TaskView> rewoundTask(ContextId context, TaskId task) {
    return query(context, viewTables -> viewTables.tasks().findRewound(context, task));
  }

  /// Returns a position before the `task-created` of the task that had this id at `at`, rewound or
  /// not: the closest one, or the start of the context if the views cannot be used. A fold that
  /// begins there gives the same result.
  public Position positionBefore(ContextId context, TaskId task, Position at) {
    try {
      return query(context, viewTables -> viewTables.tasks().startSeq(context, task, at.seq()))
          .map(seq -> Position.of(seq - 1))
          .orElse(Position.START);
    } catch (Rejection.Unavailable viewsCannotBeUsed) {
      return Position.START;
    }
  }

  /// Returns the context that a task belongs to.
  public Optional<ContextId> contextOf(TaskId task) {
    // A task never moves to another context, so a known answer needs no update from the log.
    var known = thread.call(viewTables -> viewTables.tasks().contextOf(task));
    return known.isPresent() ? known : queryAll(viewTables -> viewTables.tasks().contextOf(task));
  }

  /// Counts open tasks and questions without updating the views: the last appends may be missing.
  public OpenWork openWork() {
    return thread.call(OpenWork::of);
  }

  /// Returns requests that wait for a person, in the visible contexts, oldest first.
  public ResultPage<PendingView> pending(
      VisibleContexts visible, @Nullable String cursor, int limit) {
    var from = PendingCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        queryList(viewTables -> new PendingQueries(viewTables.sql()).page(visible, from, max + 1)),
        max,
        last -> PendingCursor.of(last).toString());
  }

  /// Returns the task that requested an input or a sign-in, answered or not.
  public Optional<TaskId> askingTask(ContextId context, Id asked) {
    return query(
        context,
        viewTables ->
            switch (asked) {
              case InputId input -> viewTables.inputs().askingTask(context, input);
              case AuthId auth -> viewTables.auths().askingTask(context, auth);
              default -> Optional.empty();
            });
  }

  /// Returns artifacts in their latest version, oldest first.
  public ResultPage<ArtifactView> artifacts(ContextId context, @Nullable String cursor, int limit) {
    var after = SeqCursor.parse(cursor);
    return query(context, viewTables -> viewTables.artifacts().page(context, after, clamp(limit)));
  }

  /// Returns one version of an artifact, the latest if `version` is null.
  public Optional<ArtifactView> artifact(
      ContextId context, ArtifactId artifact, @Nullable Integer version) {
    return query(context, viewTables -> viewTables.artifacts().find(context, artifact, version));
  }

  /// Returns the content of an artifact: the bytes of a file, data as JSON, or rows as JSON lines.
  ///
  /// If the artifact is incomplete, returns the bytes up to the first missing chunk.
  ///
  /// @throws Rejection.TooLarge if it is larger than 64 MiB
  public byte[] content(ContextId context, ArtifactView artifact) {
    return ArtifactContent.read(log, context, artifact);
  }

  /// Returns the context's state: its keys and their values.
  public ObjectNode state(ContextId context) {
    return query(context, viewTables -> viewTables.state().now(context));
  }

  /// Returns the parent task, if there is one, rewound or not.
  public Optional<TaskId> parentOf(ContextId context, TaskId task) {
    return query(context, viewTables -> viewTables.tasks().parentOf(context, task));
  }

  /// Returns the folders that root tasks of the context worked in, latest first, rewound or not.
  public List<String> folders(ContextId context) {
    return query(context, viewTables -> viewTables.tasks().folders(context, FOLDERS_MAX));
  }

  /// Returns where the turn of a task begins, rewound or not.
  public Optional<TurnPosition> turnPosition(ContextId context, TaskId task) {
    return query(context, viewTables -> viewTables.tasks().turnPosition(context, task));
  }

  /// Returns the position of a message, rewound or not.
  public Optional<TurnPosition> turnPosition(ContextId context, MessageId message) {
    return query(context, viewTables -> viewTables.messages().turnPosition(context, message));
  }

  /// Returns the oldest task that was open at `seq`.
  public Optional<TaskId> openTaskAt(ContextId context, long seq) {
    return query(context, viewTables -> viewTables.tasks().openAt(context, seq));
  }

  /// Returns the seq of the last rewind, if there is one.
  public Optional<Long> lastRewind(ContextId context) {
    return query(context, viewTables -> viewTables.rewinds().lastRewind(context));
  }

  /// Returns what a rewind to `seq` would change.
  public RewindEffect rewindEffect(ContextId context, long seq) {
    return query(
        context,
        viewTables -> {
          var counted = viewTables.rewinds().activeRanges(context, seq);
          return new RewindEffect(
              viewTables.state().differenceTo(context, counted),
              viewTables.artifacts().differenceTo(context, counted));
        });
  }

  /// Returns the usage per model, without rewound calls.
  public List<UsageView> usage(ContextId context) {
    return query(context, viewTables -> viewTables.usage().sums(context));
  }

  /// Returns corrections after `seq` of messages and tasks before it, as events for a fork: the
  /// last edit or the deletion of each message, and each removal of a task.
  public List<EventDraft> correctionsAfter(ContextId context, long seq) {
    return query(
        context,
        viewTables -> {
          var drafts = new ArrayList<EventDraft>();
          for (var correction : viewTables.messages().lastCorrections(context, seq)) {
            drafts.add(EventDraft.of(correction.event()));
          }
          for (var removal : viewTables.stored().removalsAfter(context, seq)) {
            viewTables
                .tasks()
                .agentOf(context, removal.task(), seq)
                .ifPresent(
                    agent ->
                        drafts.add(
                            new EventDraft(
                                Origin.root(removal.task(), agent), new TaskDeleted("deleted"))));
          }
          return drafts;
        });
  }

  /// Returns a snapshot at `at`, or of the current state if `at` is null.
  ///
  /// @throws Rejection.Invalid if the context has not reached `at`
  public ContextSnapshot snapshot(ContextId context, @Nullable Position at, int messageLimit) {
    var messages = Math.clamp(messageLimit, 0, PAGE_MAX);
    var now = query(context, SnapshotReader.readTables(context, messages));
    if (at == null || at.equals(now.position())) {
      return snapshotReader.withText(context, now);
    }
    var head = log.head(context);
    if (at.after(head)) {
      throw new Rejection.Invalid("invalid-cursor", "the context ends at position " + head);
    }
    var laterCorrections =
        query(
            context,
            viewTables -> SnapshotReader.LaterCorrections.after(viewTables, context, at.seq()));
    return snapshotReader.readPast(context, at, messages, laterCorrections);
  }

  /// Returns queries for root tasks of all contexts.
  public RootTaskQueries rootTasks() {
    return new RootTaskQueries(this);
  }

  /// Returns queries for tasks that clients stored or removed.
  public StoredTaskQueries storedTasks() {
    return new StoredTaskQueries(this);
  }

  /// Returns the list of contexts with their agents.
  public ContextList contextList() {
    return new ContextList(this);
  }

  /// Returns the feed of changes of all contexts.
  public ContextFeed feed() {
    return contextFeed;
  }

  /// Returns the feed cursor for readers that want only new changes.
  public ContextFeed.FeedCursor feedEnd() {
    // The feed records nothing until the whole log has been processed once: see FeedTable.
    catchUp.updateAll().orElseThrow(catchUp::unavailable);
    return contextFeed.end();
  }

  /// Removes a deleted context, also from the disk.
  public void forget(ContextId context) {
    recentMessages.forget(context);
    snapshotReader.forget(context);
    updater.forget(context);
  }

  /// Returns all views as text, for comparison in tests: equal logs have equal texts.
  public String dump() {
    return queryAll(ViewTables::dump);
  }

  @Override
  public void close() {
    refresher.close();
    thread.close();
  }

  <T> T query(ContextId context, TableWork<T> question) {
    return updater.query(context, question);
  }

  /// Runs a query over all contexts.
  ///
  /// @throws Rejection.Unavailable if the views are so far behind the log that an answer would take
  ///     too long
  <T> T queryAll(TableWork<T> question) {
    return queryAll(question, () -> updater.queryAllUnsaved(question));
  }

  /// Does the same as [#queryAll], but answers from outdated views if they cannot be written and
  /// are far behind the log.
  <T> T queryList(TableWork<T> question) {
    return queryAll(
        question,
        () -> {
          try {
            return updater.queryAllUnsaved(question);
          } catch (Rejection.Unavailable behind) {
            return thread.call(question);
          }
        });
  }

  private <T> T queryAll(TableWork<T> question, Supplier<T> withoutSaving) {
    Optional<T> answer;
    try {
      answer = updateAndQuery(question);
    } catch (Rejection.Unavailable cannotSave) {
      return withoutSaving.get();
    }
    return answer.orElseThrow(catchUp::unavailable);
  }

  /// Empty if the update takes too long.
  private <T> Optional<T> updateAndQuery(TableWork<T> question) {
    while (true) {
      var generation = catchUp.updateAll();
      if (generation.isEmpty()) {
        return Optional.empty();
      }
      var answer =
          thread.call(
              viewTables ->
                  thread.generation() == generation.getAsLong()
                      ? Optional.of(question.run(viewTables))
                      : Optional.<T>empty());
      if (answer.isPresent()) {
        return answer;
      }
    }
  }

  static <T> ResultPage<T> page(List<T> found, int max, Function<T, String> cursor) {
    return found.size() <= max
        ? new ResultPage<>(found, null)
        : new ResultPage<>(found.subList(0, max), cursor.apply(found.get(max - 1)));
  }

  static int clamp(int limit) {
    return Math.clamp(limit, 1, PAGE_MAX);
  }

  /// The effect of a rewind on state and artifacts: the keys and ids that change, with the value or
  /// version that they return to, or null if they did not exist.
  public record RewindEffect(ObjectNode state, ObjectNode artifacts) {}
}
