package dev.parley.view;

import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputId;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskDeleted;
import dev.parley.protocol.TaskId;
import dev.parley.view.ViewThread.Work;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Queries for contexts and their messages, tasks and artifacts. Every query first updates the
/// views from the log, so answers are never outdated.
///
/// All views are folds of the log in a file that can be deleted at any time. A method with a
/// context id throws `NotFound` or `Gone` as the log does, and `Unavailable` while the file cannot
/// be used.
public final class Views implements AutoCloseable {

  static final int PAGE_MAX = 1000;

  /// How many of the last changed contexts are compared with the log when the views are opened.
  private static final int NEWEST = 5;

  private static final int FOLDERS_MAX = 100;

  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(30);

  private final EventLog log;
  private final ViewThread thread;
  private final Intake intake;
  private final Snapshots snapshots;
  private final Recent recent;
  private final Feed feed;
  private final Follower follower;

  /// Opens the views in `file`. The file is rebuilt if it is missing, corrupt or of another
  /// version.
  public Views(Path file, EventLog log) {
    this(file, log, FatalHandler.NONE);
  }

  /// Does the same as [#Views(Path, EventLog)], and calls `fatal` if a thread of the views fails.
  public Views(Path file, EventLog log, FatalHandler fatal) {
    this.log = log;
    this.thread = ViewThread.on(file, fatal);
    var open = false;
    try {
      this.feed = new Feed(log, thread);
      this.intake = new Intake(log, thread, feed);
      this.snapshots = new Snapshots(log);
      this.recent = new Recent(log);
      var mark = thread.call(Tables::mark);
      if ((mark > 0 && log.changes(mark - 1, 1).mark() < mark) || !isOfThisLog()) {
        // The log is shorter than the views, or has other entries: these views belong to another
        // log.
        thread.startOver();
      }
      intake.begin();
      this.follower = new Follower(intake, feed, PAUSE, PAUSE_AFTER_FAILURE, fatal);
      open = true;
    } finally {
      if (!open) {
        thread.close();
      }
    }
  }

  /// Returns false if the views contain entries that the log does not have, because it was restored
  /// to an earlier state and then got new entries.
  ///
  /// In that case the last changed contexts in the views differ from the log. A seq may have been
  /// used again, but with another time.
  private boolean isOfThisLog() {
    for (var folded : thread.call(tables -> tables.contexts().newest(NEWEST))) {
      try {
        var at = folded.position();
        var before =
            at.k() > 0
                ? new Position(at.seq(), at.k() - 1)
                : new Position(Math.max(0, at.seq() - 1), Integer.MAX_VALUE);
        var found = log.read(folded.context(), before, 1);
        if (found.isEmpty()
            || !found.getFirst().position().equals(at)
            || found.getFirst().timestamp().toEpochMilli() != folded.millis()) {
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
    return answer(context, tables -> tables.contexts().find(context)).orElseThrow();
  }

  /// Returns contexts of these owners (of all owners if the set is empty), last changed first.
  ///
  /// A context that changes while a client reads pages moves to the front and is not listed again.
  public Page<ContextView> contexts(Set<String> owners, @Nullable String cursor, int limit) {
    var from = ContextCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        answerList(tables -> tables.contexts().page(owners, from, max + 1)),
        max,
        last -> ContextCursor.of(last).toString());
  }

  /// Returns contexts from index `offset` on. The index of a context changes when other contexts
  /// change.
  public List<ContextView> contexts(Set<String> owners, long offset, int limit) {
    return answerList(tables -> tables.contexts().page(owners, offset, clamp(limit)));
  }

  /// Counts the contexts of these owners.
  public long countContexts(Set<String> owners) {
    return answerList(tables -> tables.contexts().count(owners));
  }

  /// Returns messages after the seq `after`, oldest first.
  public Page<MessageView> messages(ContextId context, long after, int limit) {
    var max = clamp(limit);
    return page(
        answer(context, tables -> tables.messages().page(context, after, max + 1)),
        max,
        last -> Long.toString(last.seq()));
  }

  /// Returns messages from index `offset` on, oldest first.
  public List<MessageView> messagesFrom(ContextId context, long offset, int limit) {
    return answer(context, tables -> tables.messages().pageFrom(context, offset, clamp(limit)));
  }

  /// Returns the latest messages, oldest first.
  public List<MessageView> latestMessages(ContextId context, int limit) {
    var max = clamp(limit);
    var known = recent.latest(context, max);
    if (known.isPresent()) {
      return known.get();
    }
    var read =
        answer(
            context,
            tables ->
                new Recent.Known(
                    tables.contexts().position(context),
                    max,
                    tables.messages().latest(context, max)));
    recent.keep(context, read);
    return read.messages();
  }

  /// Returns one message, unless it is deleted, rewound or unknown.
  public Optional<MessageView> message(ContextId context, MessageId message) {
    return answer(context, tables -> tables.messages().find(context, message));
  }

  /// Returns messages that were edited or deleted, oldest first, rewound or not.
  public List<CorrectedMessage> corrected(ContextId context) {
    return answer(context, tables -> tables.messages().corrected(context));
  }

  /// Returns the earlier texts of a message, oldest first, each with the time of the edit that
  /// replaced it.
  public List<EditView> edits(ContextId context, MessageView message) {
    return answer(context, tables -> tables.messages().edits(context, message.seq()));
  }

  /// Returns the answer of a task, which may be partial, unless it is deleted or rewound.
  public Optional<MessageView> answerOf(ContextId context, TaskView task) {
    return answer(context, tables -> tables.messages().answer(context, task.taskId(), task.seq()));
  }

  /// Returns root tasks that began between two seqs, oldest first, at most 1,000.
  public List<TaskView> roots(ContextId context, long from, long to) {
    return answer(context, tables -> tables.tasks().roots(context, from, to, PAGE_MAX));
  }

  /// Returns tasks, oldest first.
  public Page<TaskView> tasks(ContextId context, @Nullable String cursor, int limit) {
    var after = SeqCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        answer(context, tables -> tables.tasks().page(context, after, max + 1)),
        max,
        last -> Long.toString(last.seq()));
  }

  /// Returns one task, unless it is rewound or unknown.
  public Optional<TaskView> task(ContextId context, TaskId task) {
    return answer(context, tables -> tables.tasks().find(context, task));
  }

  /// Returns one task that was rewound.
  public Optional<TaskView> rewoundTask(ContextId context, TaskId task) {
    return answer(context, tables -> tables.tasks().findRewound(context, task));
  }

  /// Returns the position of `task-created` for the task that had this id at `at`, rewound or not.
  public Optional<Position> beginning(ContextId context, TaskId task, Position at) {
    return answer(context, tables -> tables.tasks().beginning(context, task, at.seq()))
        .map(Position::of);
  }

  /// Returns the context that a task belongs to.
  public Optional<ContextId> contextOf(TaskId task) {
    // A task never moves to another context, so a known answer needs no update from the log.
    var known = thread.call(tables -> tables.tasks().contextOf(task));
    return known.isPresent() ? known : answerAll(tables -> tables.tasks().contextOf(task));
  }

  /// Counts open tasks and questions without updating the views: the last appends may be missing.
  public OpenWork openWork() {
    return thread.call(OpenWork::of);
  }

  /// Returns requests that wait for a person, in contexts of these owners (of all owners if the set
  /// is empty), oldest first.
  public Page<PendingView> pending(Set<String> owners, @Nullable String cursor, int limit) {
    var from = PendingCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        answerList(tables -> new Inbox(tables.sql()).page(owners, from, max + 1)),
        max,
        last -> PendingCursor.of(last).toString());
  }

  /// Returns the task that requested an input or a sign-in, answered or not.
  public Optional<TaskId> asker(ContextId context, Id asked) {
    return answer(
        context,
        tables ->
            switch (asked) {
              case InputId input -> tables.inputs().asker(context, input);
              case AuthId auth -> tables.auths().asker(context, auth);
              default -> Optional.empty();
            });
  }

  /// Returns artifacts in their latest version, oldest first.
  public Page<ArtifactView> artifacts(ContextId context, @Nullable String cursor, int limit) {
    var after = SeqCursor.parse(cursor);
    return answer(context, tables -> tables.artifacts().page(context, after, clamp(limit)));
  }

  /// Returns one version of an artifact, the latest if `version` is null.
  public Optional<ArtifactView> artifact(
      ContextId context, ArtifactId artifact, @Nullable Integer version) {
    return answer(context, tables -> tables.artifacts().find(context, artifact, version));
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
    return answer(context, tables -> tables.state().now(context));
  }

  /// Returns the parent task, if there is one, rewound or not.
  public Optional<TaskId> parentOf(ContextId context, TaskId task) {
    return answer(context, tables -> tables.tasks().parentOf(context, task));
  }

  /// Returns the folders that root tasks of the context worked in, latest first, rewound or not.
  public List<String> folders(ContextId context) {
    return answer(context, tables -> tables.tasks().folders(context, FOLDERS_MAX));
  }

  /// Returns where the turn of a task begins, rewound or not.
  public Optional<Place> place(ContextId context, TaskId task) {
    return answer(context, tables -> tables.tasks().place(context, task));
  }

  /// Returns the position of a message, rewound or not.
  public Optional<Place> place(ContextId context, MessageId message) {
    return answer(context, tables -> tables.messages().place(context, message));
  }

  /// Returns the oldest task that was open at `seq`.
  public Optional<TaskId> openAt(ContextId context, long seq) {
    return answer(context, tables -> tables.tasks().openAt(context, seq));
  }

  /// Returns the seq of the last rewind, if there is one.
  public Optional<Long> lastRewind(ContextId context) {
    return answer(context, tables -> tables.rewinds().last(context));
  }

  /// Returns what a rewind to `seq` would change.
  public Undo undo(ContextId context, long seq) {
    return answer(
        context,
        tables -> {
          var counted = tables.rewinds().counted(context, seq);
          return new Undo(
              tables.state().backTo(context, counted), tables.artifacts().backTo(context, counted));
        });
  }

  /// Returns the usage per model, without rewound calls.
  public List<UsageView> usage(ContextId context) {
    return answer(context, tables -> tables.usage().sums(context));
  }

  /// Returns corrections after `seq` of messages and tasks before it, as events for a fork: the
  /// last edit or the deletion of each message, and each removal of a task.
  public List<Draft> correctionsAfter(ContextId context, long seq) {
    return answer(
        context,
        tables -> {
          var drafts = new ArrayList<Draft>();
          for (var correction : tables.messages().lastCorrections(context, seq)) {
            drafts.add(Draft.of(correction.event()));
          }
          for (var removal : tables.stored().removalsAfter(context, seq)) {
            tables
                .tasks()
                .agentOf(context, removal.task(), seq)
                .ifPresent(
                    agent ->
                        drafts.add(
                            new Draft(
                                Origin.root(removal.task(), agent), new TaskDeleted("deleted"))));
          }
          return drafts;
        });
  }

  /// Returns a snapshot at `at`, or of the current state if `at` is null.
  ///
  /// @throws Rejection.Invalid if the context has not reached `at`
  public Snapshot snapshot(ContextId context, @Nullable Position at, int messageLimit) {
    var messages = Math.clamp(messageLimit, 0, PAGE_MAX);
    var now = answer(context, Snapshots.known(context, messages));
    if (at == null || at.equals(now.position())) {
      return snapshots.withText(context, now);
    }
    var head = log.head(context);
    if (at.after(head)) {
      throw new Rejection.Invalid("invalid-cursor", "the context ends at position " + head);
    }
    var later = answer(context, tables -> Snapshots.Later.than(tables, context, at.seq()));
    return snapshots.past(context, at, messages, later);
  }

  /// Returns queries for root tasks of all contexts.
  public Roots roots() {
    return new Roots(this);
  }

  /// Returns queries for tasks that clients stored or removed.
  public Keep keep() {
    return new Keep(this);
  }

  /// Returns the list of contexts with their agents.
  public Listing listing() {
    return new Listing(this);
  }

  /// Returns the feed of changes of all contexts.
  public Feed feed() {
    return feed;
  }

  /// Returns the feed cursor for readers that want only new changes.
  public Feed.Cursor now() {
    // The feed records nothing until the whole log has been processed once: see MoveTable.
    intake.takeInAll();
    return feed.end();
  }

  /// Removes a deleted context, also from the disk.
  public void forget(ContextId context) {
    recent.forget(context);
    snapshots.forget(context);
    intake.forget(context);
  }

  /// Returns all views as text, for comparison in tests: equal logs have equal texts.
  public String dump() {
    return answerAll(Tables::dump);
  }

  @Override
  public void close() {
    follower.close();
    thread.close();
  }

  <T> T answer(ContextId context, Work<T> question) {
    return intake.answer(context, question);
  }

  <T> T answerAll(Work<T> question) {
    while (true) {
      var generation = intake.takeInAll();
      var answer =
          thread.call(
              tables ->
                  thread.generation() == generation
                      ? Optional.of(question.run(tables))
                      : Optional.<T>empty());
      if (answer.isPresent()) {
        return answer.get();
      }
    }
  }

  /// Does the same as [#answerAll], but answers from outdated views if they cannot be updated, for
  /// example because the disk is full.
  <T> T answerList(Work<T> question) {
    try {
      return answerAll(question);
    } catch (Rejection.Unavailable behind) {
      return thread.call(question);
    }
  }

  static <T> Page<T> page(List<T> found, int max, Function<T, String> cursor) {
    return found.size() <= max
        ? new Page<>(found, null)
        : new Page<>(found.subList(0, max), cursor.apply(found.get(max - 1)));
  }

  static int clamp(int limit) {
    return Math.clamp(limit, 1, PAGE_MAX);
  }
}
