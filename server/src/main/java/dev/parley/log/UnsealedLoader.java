package dev.parley.log;

import dev.parley.log.CachedContext.ContextStatus;
import dev.parley.log.UnsealedBlocks.ChunkSize;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Loads the blocks of a store when a log is opened: the contexts with unsealed entries, and these
/// entries. For one thread.
final class UnsealedLoader {

  private static final Logger LOG = System.getLogger(UnsealedLoader.class.getName());

  private final ContextSource source;
  private final UnsealedBlocks unsealedBlocks;
  private final MemoryLimiters memory;
  private final Map<Long, CachedContext> found = new HashMap<>();

  /// Loads contexts by number.
  interface ContextSource {
    CachedContext load(long number) throws SQLException;
  }

  UnsealedLoader(ContextSource source, UnsealedBlocks unsealedBlocks, MemoryLimiters memory) {
    this.source = source;
    this.unsealedBlocks = unsealedBlocks;
    this.memory = memory;
  }

  /// Loads the next block. The caller loads all blocks, in the order of their numbers.
  void load(long block, byte[] data) throws SQLException {
    var in = new ByteSource(data);
    while (in.hasMore()) {
      var number = in.number();
      var context = found.get(number);
      if (context == null) {
        context = source.load(number);
        found.put(number, context);
      }
      var stored = new StoredChunk(block, data.length, in.block());
      switch (context.status) {
        case PRESENT -> loadChunk(stored, context);
        case DAMAGED -> unsealedBlocks.keepUnreadable(block, data.length, context);
        case ABSENT, DELETED -> unsealedBlocks.addStale(block, data.length, number);
      }
    }
    unsealedBlocks.loaded(block, data.length);
  }

  /// The chunk of one context in a block.
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record StoredChunk(long block, int blockBytes, byte[] data) {}

  /// A block may outlive the sealing of some of its contexts; sealed entries are not loaded twice.
  private void loadChunk(StoredChunk chunk, CachedContext context) {
    try {
      var data = context.cipher.decrypt(chunk.data(), StoredValue.chunk(context.number));
      if (ChunkReader.before(data).after(context.window.head())) {
        throw new IllegalStateException("entries are missing after " + context.window.head());
      }
      var slots =
          ChunkReader.entries(context.id, context.ids, data, context.sealedTo, Integer.MAX_VALUE);
      if (!slots.isEmpty()) {
        var runs = StoredRun.of(slots);
        memory.windows().add(context, runs);
        unsealedBlocks.add(
            chunk.block(), chunk.blockBytes(), context, ChunkSize.of(chunk.data(), runs));
      } else {
        unsealedBlocks.addStale(chunk.block(), chunk.blockBytes(), context.number);
      }
    } catch (RuntimeException unreadable) {
      markDamaged(context, unreadable);
      unsealedBlocks.keepUnreadable(chunk.block(), chunk.blockBytes(), context);
    }
  }

  /// Computes the states of the contexts, after the last block.
  void finish() {
    for (var context : found.values()) {
      if (context.unsealedCount == 0) {
        context.dropped(); // All of it is in segments; it is loaded again on demand.
      }
    }
    for (var context : unsealedBlocks.contexts()) {
      if (context.status == ContextStatus.PRESENT) {
        try {
          context.rollBack();
        } catch (RuntimeException unreadable) {
          markDamaged(context, unreadable);
          unsealedBlocks.exclude(List.of(context));
        }
      }
    }
  }

  static void markDamaged(CachedContext context, RuntimeException unreadable) {
    LOG.log(Level.ERROR, "context " + context.id + " cannot be read", unreadable);
    context.status = ContextStatus.DAMAGED;
  }
}
