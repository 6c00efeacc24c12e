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

/// Answers questions about contexts. Views may lag behind the log; answers do not: each first takes in
/// what is new.
///
/// All views are folds of the log, kept in a file that can be thrown away at any time. A method that
/// names a context throws `NotFound` or `Gone` as the log does, and `Unavailable` while the file
/// cannot be used.
public final class Views implements AutoCloseable {

  static final int PAGE_MAX = 1000;

  /// How many of the contexts that changed last are compared with the log when the views are opened.
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

  /// Opens the views in `file`, which is made anew when it is missing, broken or of another version.
  public Views(Path file, EventLog log) {
    this(file, log, FatalHandler.NONE);
  }

  /// As [#Views(Path, EventLog)]. Calls `fatal` if a thread of the views fails.
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
        // The log never came that far, or something else stands there: these are the views of
        // another
        // one.
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

  /// False if the views know something that is not in the log: it was put back to an earlier state and written on since.
  ///
  /// If so, what they took in last is among that. The place may be taken again by now, but by something that happened
  /// at another time.
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
        // It was deleted just before the server ended, or cannot be read: the next one tells.
      }
    }
    return true;
  }

  /// The context.
  public ContextView context(ContextId context) {
    return answer(context, tables -> tables.contexts().find(context)).orElseThrow();
  }

  /// Contexts of these owners (all, if none are named), the one that changed last first.
  ///
  /// One that changes while somebody pages through moves to the front, and is not listed again.
  public Page<ContextView> contexts(Set<String> owners, @Nullable String cursor, int limit) {
    var from = ContextCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        answerList(tables -> tables.contexts().page(owners, from, max + 1)),
        max,
        last -> ContextCursor.of(last).toString());
  }

  /// The same from the `offset`th on, which others may move meanwhile.
  public List<ContextView> contexts(Set<String> owners, long offset, int limit) {
    return answerList(tables -> tables.contexts().page(owners, offset, clamp(limit)));
  }

  /// How many contexts these owners have.
  public long countContexts(Set<String> owners) {
    return answerList(tables -> tables.contexts().count(owners));
  }

  /// Messages after `after` (a seq), oldest first.
  public Page<MessageView> messages(ContextId context, long after, int limit) {
    var max = clamp(limit);
    return page(
        answer(context, tables -> tables.messages().page(context, after, max + 1)),
        max,
        last -> Long.toString(last.seq()));
  }

  /// Messages from the `offset`th on, oldest first.
  public List<MessageView> messagesFrom(ContextId context, long offset, int limit) {
    return answer(context, tables -> tables.messages().pageFrom(context, offset, clamp(limit)));
  }

  /// The latest messages, oldest first.
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

  /// One message, unless it is deleted, rewound or unknown.
  public Optional<MessageView> message(ContextId context, MessageId message) {
    return answer(context, tables -> tables.messages().find(context, message));
  }

  /// Messages that were edited or deleted, oldest first, whether they count or not.
  public List<CorrectedMessage> corrected(ContextId context) {
    return answer(context, tables -> tables.messages().corrected(context));
  }

  /// What a message read before, oldest first, each until the time that it was edited at.
  public List<EditView> edits(ContextId context, MessageView message) {
    return answer(context, tables -> tables.messages().edits(context, message.seq()));
  }

  /// What a task answered, also in part, unless it is deleted or rewound.
  public Optional<MessageView> answerOf(ContextId context, TaskView task) {
    return answer(context, tables -> tables.messages().answer(context, task.taskId(), task.seq()));
  }

  /// Tasks that nobody spawned and that began between two seqs, oldest first, at most a thousand.
  public List<TaskView> roots(ContextId context, long from, long to) {
    return answer(context, tables -> tables.tasks().roots(context, from, to, PAGE_MAX));
  }

  /// Tasks, oldest first.
  public Page<TaskView> tasks(ContextId context, @Nullable String cursor, int limit) {
    var after = SeqCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        answer(context, tables -> tables.tasks().page(context, after, max + 1)),
        max,
        last -> Long.toString(last.seq()));
  }

  /// One task, unless it is rewound or unknown.
  public Optional<TaskView> task(ContextId context, TaskId task) {
    return answer(context, tables -> tables.tasks().find(context, task));
  }

  /// One task that was rewound: it no longer counts.
  public Optional<TaskView> rewoundTask(ContextId context, TaskId task) {
    return answer(context, tables -> tables.tasks().findRewound(context, task));
  }

  /// Where the task's `task-created` stands that had this id at `at`, rewound or not.
  public Optional<Position> beginning(ContextId context, TaskId task, Position at) {
    return answer(context, tables -> tables.tasks().beginning(context, task, at.seq()))
        .map(Position::of);
  }

  /// The context that a task belongs to.
  public Optional<ContextId> contextOf(TaskId task) {
    // A task never moves, so what is known need not be asked of the log again.
    var known = thread.call(tables -> tables.tasks().contextOf(task));
    return known.isPresent() ? known : answerAll(tables -> tables.tasks().contextOf(task));
  }

  /// What is open, as far as the views know by now: it does not wait for what was just appended.
  public OpenWork openWork() {
    return thread.call(OpenWork::of);
  }

  /// What waits for a person in contexts of these owners (all, if none are named), oldest first.
  public Page<PendingView> pending(Set<String> owners, @Nullable String cursor, int limit) {
    var from = PendingCursor.parse(cursor);
    var max = clamp(limit);
    return page(
        answerList(tables -> new Inbox(tables.sql()).page(owners, from, max + 1)),
        max,
        last -> PendingCursor.of(last).toString());
  }

  /// The task that asked for an input or a sign-in, whether or not that was answered.
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

  /// Artifacts in their latest version, oldest first.
  public Page<ArtifactView> artifacts(ContextId context, @Nullable String cursor, int limit) {
    var after = SeqCursor.parse(cursor);
    return answer(context, tables -> tables.artifacts().page(context, after, clamp(limit)));
  }

  /// One version of an artifact, the latest if none is named.
  public Optional<ArtifactView> artifact(
      ContextId context, ArtifactId artifact, @Nullable Integer version) {
    return answer(context, tables -> tables.artifacts().find(context, artifact, version));
  }

  /// The bytes of an artifact as one would save them: a file's own, data as JSON, rows as JSON lines.
  ///
  /// Of one that is not complete, those that are there.
  ///
  /// @throws Rejection.TooLarge if it is larger than 64 MiB
  public byte[] content(ContextId context, ArtifactView artifact) {
    return ArtifactContent.read(log, context, artifact);
  }

  /// The context's state: its keys and their values.
  public ObjectNode state(ContextId context) {
    return answer(context, tables -> tables.state().now(context));
  }

  /// The task right above this one, if there is one, whether they count or not.
  public Optional<TaskId> parentOf(ContextId context, TaskId task) {
    return answer(context, tables -> tables.tasks().parentOf(context, task));
  }

  /// The folders that root tasks of the context worked in, the latest first, whether they count or not.
  public List<String> folders(ContextId context) {
    return answer(context, tables -> tables.tasks().folders(context, FOLDERS_MAX));
  }

  /// Where the turn of a task begins, also of one that no longer counts.
  public Optional<Place> place(ContextId context, TaskId task) {
    return answer(context, tables -> tables.tasks().place(context, task));
  }

  /// Where a message stands, also one that no longer counts.
  public Optional<Place> place(ContextId context, MessageId message) {
    return answer(context, tables -> tables.messages().place(context, message));
  }

  /// The oldest task that had begun at `seq` and had not ended there.
  public Optional<TaskId> openAt(ContextId context, long seq) {
    return answer(context, tables -> tables.tasks().openAt(context, seq));
  }

  /// Where the last rewind stands, if there ever was one.
  public Optional<Long> lastRewind(ContextId context) {
    return answer(context, tables -> tables.rewinds().last(context));
  }

  /// What going back to `seq` does to the context.
  public Undo undo(ContextId context, long seq) {
    return answer(
        context,
        tables -> {
          var counted = tables.rewinds().counted(context, seq);
          return new Undo(
              tables.state().backTo(context, counted), tables.artifacts().backTo(context, counted));
        });
  }

  /// What the context's models cost, without what was rewound.
  public List<UsageView> usage(ContextId context) {
    return answer(context, tables -> tables.usage().sums(context));
  }

  /// What people corrected after `seq` in what stood there before, as events that correct it in a fork: for each
  /// message its last edit or its deletion, and each task that was removed.
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

  /// The context at `at`, or now.
  ///
  /// @throws Rejection.Invalid if nothing stands at `at` yet
  public Snapshot snapshot(ContextId context, @Nullable Position at, int messageLimit) {
    var messages = Math.clamp(messageLimit, 0, PAGE_MAX);
    var now = answer(context, Snapshots.known(context, messages));
    if (at == null || at.equals(now.position())) {
      return snapshots.withText(context, now);
    }
    var head = log.head(context);
    if (at.after(head)) {
      throw new Rejection.Invalid("invalid-cursor", "the context has only come to " + head);
    }
    var later = answer(context, tables -> Snapshots.Later.than(tables, context, at.seq()));
    return snapshots.past(context, at, messages, later);
  }

  /// Root tasks of all contexts.
  public Roots roots() {
    return new Roots(this);
  }

  /// Tasks that clients stored or removed.
  public Keep keep() {
    return new Keep(this);
  }

  /// Contexts, each with its agent.
  public Listing listing() {
    return new Listing(this);
  }

  /// Which contexts move on, as it happens.
  public Feed feed() {
    return feed;
  }

  /// Where readers of the feed begin who want what happens from now on.
  public Feed.Cursor now() {
    // Until all has been taken in once, nothing is noted: see MoveTable.
    intake.takeInAll();
    return feed.end();
  }

  /// Forgets a context that was deleted, with its bytes.
  public void forget(ContextId context) {
    recent.forget(context);
    snapshots.forget(context);
    intake.forget(context);
  }

  /// All views as text, for comparing: the same log gives the same text.
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

  /// The same for lists: if the views cannot take in what is new, because the disk is full, they answer with what they
  /// have.
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
