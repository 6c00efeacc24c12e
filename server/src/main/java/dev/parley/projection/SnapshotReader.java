package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.projection.CheckpointCache.Checkpoint;
import dev.parley.projection.MessageTable.Correction;
import dev.parley.projection.OpenTextBlockTable.OpenTextBlock;
import dev.parley.projection.ViewThread.TableWork;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextSnapshot;
import dev.parley.protocol.ContextSnapshot.PartialText;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/// Creates snapshots, which contain everything up to a position and nothing after it.
///
/// A snapshot has at most [#TASKS_MAX] tasks (all open tasks and the trees of the latest
/// [#ROOTS_MAX] root tasks), [#ARTIFACTS_MAX] artifacts (the newest) and [#TEXT_MAX] characters of
/// unfinished text.
final class SnapshotReader {

  static final int ROOTS_MAX = 200;
  static final int TASKS_MAX = 2000;
  static final int ARTIFACTS_MAX = 500;
  static final int TEXT_MAX = 16 << 20;

  /// Each snapshot of the past needs a thread and memory.
  private static final int PAST_AT_ONCE = 2;

  /// Folding this many entries takes no noticeable time.
  static final int CHECKPOINT_EVERY = 32 * ViewUpdater.PAGE;

  private static final int CHECKPOINTS_BYTES = 64 << 20;

  private final EventLog log;
  private final ViewsRuntime runtime;
  private final Semaphore past = new Semaphore(PAST_AT_ONCE);
  private final CheckpointCache checkpointCache = new CheckpointCache(CHECKPOINTS_BYTES);

  SnapshotReader(EventLog log, ViewsRuntime runtime) {
    this.log = log;
    this.runtime = runtime.withoutFatal();
  }

  /// A snapshot without unfinished text, which is in the log, and the blocks that are open.
  record SnapshotWithoutText(
      ContextSnapshot snapshot, Position position, List<OpenTextBlock> blocks) {}

  /// Corrections and removals after a position. They also apply to messages and tasks before it.
  record LaterCorrections(
      List<Correction> corrections, List<StoredTaskTable.RemovedTask> removals) {

    static LaterCorrections after(ViewTables viewTables, ContextId context, long seq)
        throws SQLException {
      return new LaterCorrections(
          viewTables.messages().correctionsAfter(context, seq),
          viewTables.stored().removalsAfter(context, seq));
    }

    private void apply(ViewTables viewTables, ContextId context) throws SQLException {
      for (var correction : corrections) {
        ViewFold.correct(viewTables, context, correction);
      }
      for (var removal : removals) {
        viewTables.stored().remove(context, removal);
      }
    }
  }

  private ViewThread openThread(Optional<Checkpoint> start) {
    return start
        .map(checkpoint -> ViewThread.from(checkpoint, runtime))
        .orElseGet(() -> ViewThread.inMemory(runtime));
  }

  /// Reads everything except unfinished text, in one transaction.
  static TableWork<SnapshotWithoutText> readTables(ContextId context, int messageLimit) {
    return viewTables -> readTables(viewTables, context, messageLimit);
  }

  /// Returns the context as it was at `at`, by folding the log up to there. The corrections and
  /// removals in `later` are applied to it.
  ///
  /// @throws Rejection.Invalid if the position is before the start of the context
  ContextSnapshot readPast(
      ContextId context, Position at, int messageLimit, LaterCorrections laterCorrections) {
    if (at.seq() == 0) {
      throw new Rejection.Invalid("invalid-cursor", "the first position of a context is 1");
    }
    var known = checkpointCache.lastUpTo(context, at);
    past.acquireUninterruptibly();
    try (var thread = openThread(known)) {
      var after = known.map(Checkpoint::at).orElse(Position.START);
      for (var taken = 0; ; ) {
        var entries = upTo(at, log.read(context, after, ViewUpdater.PAGE));
        if (entries.isEmpty()) {
          break;
        }
        thread.call(
            viewTables -> {
              ViewFold.fold(viewTables, entries);
              return true;
            });
        after = entries.getLast().position();
        taken += entries.size();
        if (taken >= CHECKPOINT_EVERY) {
          taken = 0;
          saveCheckpoint(context, new Checkpoint(after, thread.image()));
        }
      }
      return withText(
          context,
          thread.call(
              viewTables -> {
                laterCorrections.apply(viewTables, context);
                return readTables(viewTables, context, messageLimit);
              }));
    } finally {
      past.release();
    }
  }

  /// Removes the checkpoints of a deleted context.
  void forget(ContextId context) {
    checkpointCache.forget(context);
  }

  private void saveCheckpoint(ContextId context, Checkpoint checkpoint) {
    checkpointCache.put(context, checkpoint);
    try {
      // Throws if the context was deleted meanwhile, so that no checkpoint remains.
      log.head(context);
    } catch (Rejection deleted) {
      checkpointCache.forget(context);
      throw deleted;
    }
  }

  /// Adds the text of the blocks that are open at the snapshot's position.
  ContextSnapshot withText(ContextId context, SnapshotWithoutText snapshotWithoutText) {
    var texts = new LinkedHashMap<OpenTextBlock, StringBuilder>();
    snapshotWithoutText
        .blocks()
        .forEach(openTextBlock -> texts.put(openTextBlock, new StringBuilder()));
    readText(context, snapshotWithoutText, texts);
    var contextSnapshot = snapshotWithoutText.snapshot();
    return new ContextSnapshot(
        contextSnapshot.position(),
        contextSnapshot.context(),
        contextSnapshot.messages(),
        contextSnapshot.hasEarlierMessages(),
        contextSnapshot.tasks(),
        contextSnapshot.pendingInputs(),
        contextSnapshot.pendingAuths(),
        contextSnapshot.artifacts(),
        texts.entrySet().stream().map(text -> partial(text.getKey(), text.getValue())).toList(),
        contextSnapshot.usage(),
        contextSnapshot.state());
  }

  private void readText(
      ContextId context,
      SnapshotWithoutText snapshotWithoutText,
      Map<OpenTextBlock, StringBuilder> texts) {
    if (texts.isEmpty()) {
      return;
    }
    var after = Position.of(snapshotWithoutText.blocks().getFirst().firstSeq() - 1);
    var length = 0L;
    while (snapshotWithoutText.position().after(after)) {
      var entries =
          upTo(snapshotWithoutText.position(), log.read(context, after, ViewUpdater.PAGE));
      if (entries.isEmpty()) {
        return;
      }
      for (var entry : entries) {
        length += append(entry, texts);
      }
      if (length > TEXT_MAX) {
        throw new Rejection.TooLarge(
            "context-too-large", "the context has too much unfinished text");
      }
      after = entries.getLast().position();
    }
  }

  private static int append(Entry entry, Map<OpenTextBlock, StringBuilder> texts) {
    if (entry.event() instanceof ContentDelta delta) {
      for (var text : texts.entrySet()) {
        var openTextBlock = text.getKey();
        if (openTextBlock.id().equals(delta.blockId())
            && openTextBlock.task().equals(entry.taskId())
            && entry.position().seq() >= openTextBlock.firstSeq()) {
          text.getValue().append(delta.delta());
          return delta.delta().length();
        }
      }
    }
    return 0;
  }

  private static PartialText partial(OpenTextBlock openTextBlock, StringBuilder text) {
    return new PartialText(
        openTextBlock.task(), openTextBlock.id(), openTextBlock.firstSeq(), text.toString());
  }

  private static List<Entry> upTo(Position last, List<Entry> entries) {
    return entries.stream().takeWhile(entry -> !entry.position().after(last)).toList();
  }

  private static SnapshotWithoutText readTables(
      ViewTables viewTables, ContextId context, int messageLimit) throws SQLException {
    @Nullable ContextView view = viewTables.contexts().find(context).orElse(null);
    if (view == null) {
      throw new Rejection.NotFound("no such context: " + context);
    }
    var messages = viewTables.messages().latest(context, messageLimit + 1);
    var earlier = messages.size() > messageLimit;
    var contextSnapshot =
        new ContextSnapshot(
            view.position(),
            view,
            earlier ? List.copyOf(messages.subList(1, messages.size())) : messages,
            earlier,
            viewTables.tasks().current(context, ROOTS_MAX, TASKS_MAX),
            viewTables.inputs().all(context),
            viewTables.auths().all(context),
            viewTables.artifacts().newest(context, ARTIFACTS_MAX),
            List.of(),
            viewTables.usage().sums(context),
            viewTables.state().now(context));
    return new SnapshotWithoutText(
        contextSnapshot,
        viewTables.contexts().position(context),
        viewTables.blocks().open(context));
  }
}
