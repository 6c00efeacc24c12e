package dev.parley.view;

import dev.parley.log.EventLog;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.view.BlockTable.Block;
import dev.parley.view.Checkpoints.Checkpoint;
import dev.parley.view.MessageTable.Correction;
import dev.parley.view.Snapshot.PartialText;
import dev.parley.view.ViewThread.Work;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/// Creates snapshots, which contain everything up to a position and nothing after it.
///
/// A snapshot has at most [#TASKS_MAX] tasks (all open tasks and the trees of the latest
/// [#ROOTS_MAX] root tasks), [#ARTIFACTS_MAX] artifacts (the newest) and [#TEXT_MAX] characters of
/// unfinished text.
final class Snapshots {

  static final int ROOTS_MAX = 200;
  static final int TASKS_MAX = 2000;
  static final int ARTIFACTS_MAX = 500;
  static final int TEXT_MAX = 16 << 20;

  /// Each snapshot of the past needs a thread and memory.
  private static final int PAST_AT_ONCE = 2;

  /// Folding this many entries takes no noticeable time.
  static final int CHECKPOINT_EVERY = 32 * Intake.PAGE;

  private static final int CHECKPOINTS_BYTES = 64 << 20;

  private final EventLog log;
  private final Semaphore past = new Semaphore(PAST_AT_ONCE);
  private final Checkpoints checkpoints = new Checkpoints(CHECKPOINTS_BYTES);

  Snapshots(EventLog log) {
    this.log = log;
  }

  /// A snapshot without unfinished text, which is in the log, and the blocks that are open.
  record Known(Snapshot snapshot, Position position, List<Block> blocks) {}

  /// Corrections and removals after a position. They also apply to messages and tasks before it.
  record Later(List<Correction> corrections, List<StoredTable.RemovedTask> removals) {

    static Later than(Tables tables, ContextId context, long seq) throws SQLException {
      return new Later(
          tables.messages().correctionsAfter(context, seq),
          tables.stored().removalsAfter(context, seq));
    }

    private void apply(Tables tables, ContextId context) throws SQLException {
      for (var correction : corrections) {
        ViewFold.correct(tables, context, correction);
      }
      for (var removal : removals) {
        tables.stored().remove(context, removal);
      }
    }
  }

  /// Reads everything except unfinished text, in one transaction.
  static Work<Known> known(ContextId context, int messageLimit) {
    return tables -> known(tables, context, messageLimit);
  }

  /// Returns the context as it was at `at`, by folding the log up to there. The corrections and
  /// removals in `later` are applied to it.
  ///
  /// @throws Rejection.Invalid if the position is before the start of the context
  Snapshot past(ContextId context, Position at, int messageLimit, Later later) {
    if (at.seq() == 0) {
      throw new Rejection.Invalid("invalid-cursor", "the first position of a context is 1");
    }
    var known = checkpoints.before(context, at);
    past.acquireUninterruptibly();
    try (var thread = known.map(ViewThread::from).orElseGet(ViewThread::inMemory)) {
      var after = known.map(Checkpoint::at).orElse(Position.START);
      for (var taken = 0; ; ) {
        var entries = upTo(at, log.read(context, after, Intake.PAGE));
        if (entries.isEmpty()) {
          break;
        }
        thread.call(
            tables -> {
              ViewFold.fold(tables, entries);
              return true;
            });
        after = entries.getLast().position();
        taken += entries.size();
        if (taken >= CHECKPOINT_EVERY) {
          taken = 0;
          keep(context, new Checkpoint(after, thread.image()));
        }
      }
      return withText(
          context,
          thread.call(
              tables -> {
                later.apply(tables, context);
                return known(tables, context, messageLimit);
              }));
    } finally {
      past.release();
    }
  }

  /// Removes the checkpoints of a deleted context.
  void forget(ContextId context) {
    checkpoints.forget(context);
  }

  private void keep(ContextId context, Checkpoint checkpoint) {
    checkpoints.keep(context, checkpoint);
    try {
      // Throws if the context was deleted meanwhile, so that no checkpoint remains.
      log.head(context);
    } catch (Rejection deleted) {
      checkpoints.forget(context);
      throw deleted;
    }
  }

  /// Adds the text of the blocks that are open at the snapshot's position.
  Snapshot withText(ContextId context, Known known) {
    var texts = new LinkedHashMap<Block, StringBuilder>();
    known.blocks().forEach(block -> texts.put(block, new StringBuilder()));
    read(context, known, texts);
    var snapshot = known.snapshot();
    return new Snapshot(
        snapshot.position(),
        snapshot.context(),
        snapshot.messages(),
        snapshot.hasEarlierMessages(),
        snapshot.tasks(),
        snapshot.pendingInputs(),
        snapshot.pendingAuths(),
        snapshot.artifacts(),
        texts.entrySet().stream().map(text -> partial(text.getKey(), text.getValue())).toList(),
        snapshot.usage(),
        snapshot.state());
  }

  private void read(ContextId context, Known known, Map<Block, StringBuilder> texts) {
    if (texts.isEmpty()) {
      return;
    }
    var after = Position.of(known.blocks().getFirst().firstSeq() - 1);
    var length = 0L;
    while (known.position().after(after)) {
      var entries = upTo(known.position(), log.read(context, after, Intake.PAGE));
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

  private static int append(Entry entry, Map<Block, StringBuilder> texts) {
    if (entry.event() instanceof ContentDelta delta) {
      for (var text : texts.entrySet()) {
        var block = text.getKey();
        if (block.id().equals(delta.blockId())
            && block.task().equals(entry.taskId())
            && entry.position().seq() >= block.firstSeq()) {
          text.getValue().append(delta.delta());
          return delta.delta().length();
        }
      }
    }
    return 0;
  }

  private static PartialText partial(Block block, StringBuilder text) {
    return new PartialText(block.task(), block.id(), block.firstSeq(), text.toString());
  }

  private static List<Entry> upTo(Position last, List<Entry> entries) {
    return entries.stream().takeWhile(entry -> !entry.position().after(last)).toList();
  }

  private static Known known(Tables tables, ContextId context, int messageLimit)
      throws SQLException {
    @Nullable ContextView view = tables.contexts().find(context).orElse(null);
    if (view == null) {
      throw new Rejection.NotFound("no such context: " + context);
    }
    var messages = tables.messages().latest(context, messageLimit + 1);
    var earlier = messages.size() > messageLimit;
    var snapshot =
        new Snapshot(
            view.position(),
            view,
            earlier ? List.copyOf(messages.subList(1, messages.size())) : messages,
            earlier,
            tables.tasks().current(context, ROOTS_MAX, TASKS_MAX),
            tables.inputs().all(context),
            tables.auths().all(context),
            tables.artifacts().youngest(context, ARTIFACTS_MAX),
            List.of(),
            tables.usage().sums(context),
            tables.state().now(context));
    return new Known(snapshot, tables.contexts().position(context), tables.blocks().open(context));
  }
}
