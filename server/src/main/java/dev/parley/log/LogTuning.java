package dev.parley.log;

/// Limits of the log. Tests use small ones.
///
/// - `batchEvents` and `batchBytes`: size of a group commit.
/// - `sealEvents` and `sealBytes`: a context with this much unsealed data is sealed.
/// - `unsealedBytes`: size of all unsealed blocks. Above it, the contexts of the oldest block are
///   sealed. Twice as much is never exceeded.
/// - `liveContexts`: unused contexts that may stay in memory.
/// - `walBytes`: size of the write-ahead log that starts a checkpoint.
/// - `memory`: limits of the memory.
public record LogTuning(
    int batchEvents,
    int batchBytes,
    int sealEvents,
    int sealBytes,
    int unsealedBytes,
    int liveContexts,
    long walBytes,
    MemoryLimits memory) {

  private static final int STATE_SEALS = 8;

  public LogTuning {
    // Unused contexts must not keep out contexts that are needed.
    if (usedContexts(batchEvents, memory) <= liveContexts) {
      throw new IllegalArgumentException(
          "memory for " + memory.contexts() + " contexts is too small for these limits");
    }
  }

  /// Limits with the default memory limits.
  public LogTuning(
      int batchEvents,
      int batchBytes,
      int sealEvents,
      int sealBytes,
      int unsealedBytes,
      int liveContexts,
      long walBytes) {
    this(
        batchEvents,
        batchBytes,
        sealEvents,
        sealBytes,
        unsealedBytes,
        liveContexts,
        walBytes,
        MemoryLimits.DEFAULT);
  }

  /// The number of contexts that always fit into memory, regardless of the unsealed ones.
  int usedContexts() {
    return usedContexts(batchEvents, memory);
  }

  private static int usedContexts(int batchEvents, MemoryLimits memory) {
    return memory.contexts()
        - Math.max(MemoryLimits.HARD_FACTOR * memory.unsealedContexts(), batchEvents);
  }

  /// The number of events between two stored states of a context, from which earlier states are
  /// computed.
  int stateEvents() {
    return STATE_SEALS * sealEvents;
  }

  /// The limits of a server.
  public static final LogTuning DEFAULT =
      new LogTuning(4_096, 1 << 20, 256, 64 << 10, 16 << 20, 2_000, 16 << 20);

  /// Limits of the memory that the log uses. Tests use small ones.
  ///
  /// - `unsealedContexts` and `unsealedBytes`: contexts with unsealed entries, and the memory that
  ///   these entries take. Above this, each commit also seals the oldest of them. Twice as much is
  ///   never exceeded: a commit that would exceed it seals as many contexts as necessary first, and
  ///   its appends wait for that.
  /// - `windowBytes` and `windowsBytes`: sealed entries that stay in memory for waiting readers, of
  ///   one context and of all contexts.
  /// - `contextKeys` and `keys`: durable idempotency keys that stay in memory, of one context and of
  ///   all contexts. The others are looked up in the store.
  /// - `contexts`: contexts in memory for any purpose. A request that needs one more waits up to
  ///   `waitMillis` for another context to be released, and is then rejected.
  public record MemoryLimits(
      int unsealedContexts,
      long unsealedBytes,
      int windowBytes,
      long windowsBytes,
      int contextKeys,
      int keys,
      int contexts,
      int waitMillis) {

    /// The hard limit of unsealed data, as a multiple of the limit that starts sealing.
    static final int HARD_FACTOR = 2;

    /// The limits of a server.
    public static final MemoryLimits DEFAULT =
        new MemoryLimits(2_000, 64 << 20, 64 << 10, 64 << 20, 32, 50_000, 60_000, 10_000);
  }
}
