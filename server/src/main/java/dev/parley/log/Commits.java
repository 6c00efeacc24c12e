package dev.parley.log;

import dev.parley.log.LiveContext.KeyName;
import dev.parley.protocol.ContextEvent.ContextCreated;
import java.sql.SQLException;

/// Writes a commit to the store, and makes it visible once it is durable. For the writer thread.
final class Commits {

  private static final long PAGES_AROUND_A_BLOCK = 8_192;

  private final Tuning tuning;
  private final Fault fault;
  private final Waker waker;
  private final Pulse pulse;
  private final Unsealed unsealed;
  private final WindowMemory windows;
  private final ByteSink block = new ByteSink(1 << 16);
  private long walBytes;
  private volatile long visible;

  Commits(Writer.Parts parts, long visible) {
    this.tuning = parts.tuning();
    this.fault = parts.fault();
    this.waker = parts.waker();
    this.pulse = parts.pulse();
    this.unsealed = parts.unsealed();
    this.windows = parts.windows();
    this.visible = visible;
  }

  /// The last block that is visible to readers. For any thread.
  long visible() {
    return visible;
  }

  /// Makes a change visible that is not a block, under this number.
  void visible(long mark) {
    visible = mark;
    pulse.beat();
  }

  /// True if enough was written that a checkpoint is due. Resets the counter.
  boolean takeCheckpointDue() {
    var due = walBytes > tuning.walBytes();
    walBytes = due ? 0 : walBytes;
    return due;
  }

  /// Writes the commit. If this throws, it is unknown whether the commit is durable.
  void write(BlockTable table, Commit commit) throws SQLException {
    fault.beforeCommit();
    block.clear();
    // This comes first, so that the following statements reuse the freed pages.
    table.deleteBlocks(commit.deleting());
    for (var ticket : commit.tickets()) {
      insert(table, ticket, commit.id());
    }
    table.insertBlock(commit.id(), block.toArray());
    for (var context : commit.sealing()) {
      fault.beforeSeal(context.id);
      table.seal(context, tuning.stateEvents());
    }
    table.commit();
    walBytes += block.size() + PAGES_AROUND_A_BLOCK;
    fault.afterCommit();
  }

  private void insert(BlockTable table, Ticket ticket, long id) throws SQLException {
    var context = ticket.context();
    block.number(context.number);
    block.block(ticket.chunk());
    if (ticket.slots().getFirst().entry().event() instanceof ContextCreated created) {
      table.insertContext(context, created.owner(), id);
    }
    if (ticket.fork() != null) {
      table.insertFork(context, ticket.fork(), id);
    }
    if (ticket.key() != null) {
      table.insertKey(context, ticket.key());
    }
  }

  /// Makes a durable commit visible, then completes its appends, then wakes waiting readers.
  void publish(Commit commit) {
    unsealed.deleted(commit.deleting(), block.size());
    for (var context : commit.sealing()) {
      unsealed.sealed(context, context.window.head());
      windows.sealed(context);
    }
    for (var ticket : commit.tickets()) {
      var context = ticket.context();
      if (ticket.fork() != null) {
        context.adopt(ticket.fork());
      }
      windows.add(context, ticket.slots());
      unsealed.add(commit.id(), block.size(), context, Unsealed.Part.of(ticket));
      settleKey(ticket);
    }
    visible = commit.id();
    // This comes last, so that callers that append again at once do not delay the rest.
    for (var ticket : commit.tickets()) {
      ticket.settle(null);
      waker.wake(ticket.context());
      ticket.release();
    }
    pulse.beat();
    windows.sweep(commit.tickets().size(), unsealed.weight());
  }

  private static void settleKey(Ticket ticket) {
    var key = ticket.key();
    if (key != null) {
      var context = ticket.context();
      context.lock.lock();
      try {
        context.keys.written(KeyName.of(key.once()));
      } finally {
        context.lock.unlock();
      }
    }
  }
}
