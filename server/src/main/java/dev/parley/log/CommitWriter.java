package dev.parley.log;

import dev.parley.log.BlockStore.LogCommit;
import dev.parley.log.BlockStore.StoreWriter;
import dev.parley.log.IdempotencyKeyCache.KeyName;
import java.sql.SQLException;

/// Writes a commit to the store, and makes it visible once it is durable. For the writer thread.
final class CommitWriter {

  private final BlockStore store;
  private final LogTuning logTuning;
  private final Waker waker;
  private final CommitSignal commitSignal;
  private final UnsealedBlocks unsealedBlocks;
  private final WindowMemoryLimiter windows;
  private final ByteSink block = new ByteSink(1 << 16);
  private long journalBytes;
  private long checkpointAt;
  private volatile long visible;

  CommitWriter(LogWriterDependencies logWriterDependencies, long visible) {
    this.store = logWriterDependencies.store();
    this.logTuning = logWriterDependencies.tuning();
    this.checkpointAt = logTuning.walBytes();
    this.waker = logWriterDependencies.waker();
    this.commitSignal = logWriterDependencies.commitSignal();
    this.unsealedBlocks = logWriterDependencies.unsealed();
    this.windows = logWriterDependencies.windows();
    this.visible = visible;
  }

  /// The last block that is visible to readers. For any thread.
  long visible() {
    return visible;
  }

  /// Makes a change visible that is not a block, under this number.
  void visible(long mark) {
    visible = mark;
    commitSignal.signal();
  }

  /// True if the write-ahead log is so large that a checkpoint is due. If that checkpoint cannot
  /// restart the write-ahead log, the next one is due when as much again has been written.
  boolean takeCheckpointDue() {
    if (journalBytes <= logTuning.walBytes()) {
      checkpointAt = logTuning.walBytes();
      return false;
    }
    var due = journalBytes > checkpointAt;
    checkpointAt = due ? journalBytes + logTuning.walBytes() : checkpointAt;
    return due;
  }

  /// Writes the commit. If this throws, it is unknown whether the commit is durable.
  void write(StoreWriter writer, LogCommit logCommit) throws SQLException {
    block.clear();
    for (var pendingAppend : logCommit.appends()) {
      block.number(pendingAppend.context().number);
      block.block(pendingAppend.chunk());
    }
    writer.write(logCommit, block.toArray());
    // Measured, not estimated: how many pages a commit writes depends on what it changes.
    journalBytes = store.journalBytes();
  }

  /// Makes a durable commit visible, then completes its appends, then wakes waiting readers. Any
  /// failure is an `Error`, which ends the writer: the commit must be neither repeated nor published
  /// again.
  void publish(LogCommit logCommit) {
    try {
      publishOnce(logCommit);
    } catch (RuntimeException bug) {
      throw new AssertionError("a durable commit cannot be made visible", bug);
    }
  }

  private void publishOnce(LogCommit logCommit) {
    unsealedBlocks.deleted(logCommit.deleting(), Math.max(block.size(), logCommit.bytes()));
    for (var context : logCommit.sealing()) {
      unsealedBlocks.sealed(context, context.window.head());
      windows.sealed(context);
    }
    if (logCommit.appends().isEmpty()) {
      // Readers see nothing new, and the empty block is only needed if the commit is in doubt.
      unsealedBlocks.loaded(logCommit.id(), block.size());
      return;
    }
    for (var pendingAppend : logCommit.appends()) {
      var context = pendingAppend.context();
      if (pendingAppend.fork() != null) {
        context.applyFork(pendingAppend.fork());
      }
      windows.add(context, pendingAppend.runs());
      unsealedBlocks.add(
          logCommit.id(), block.size(), context, UnsealedBlocks.ChunkSize.of(pendingAppend));
      confirmKey(pendingAppend);
    }
    visible = logCommit.id();
    // This comes last, so that callers that append again at once do not delay the rest.
    for (var pendingAppend : logCommit.appends()) {
      pendingAppend.complete(null);
      waker.wake(pendingAppend.context());
      pendingAppend.releaseEntries();
    }
    commitSignal.signal();
    windows.sweep(logCommit.appends().size(), unsealedBlocks.weight());
  }

  private static void confirmKey(PendingAppend pendingAppend) {
    var key = pendingAppend.key();
    if (key != null) {
      var context = pendingAppend.context();
      context.lock.lock();
      try {
        context.keys.markDurable(KeyName.of(key.once()));
      } finally {
        context.lock.unlock();
      }
    }
  }
}
