package dev.parley.log;

/// The store's limits; tests make them small.
///
/// `batchEvents` and `batchBytes` bound a group commit; a context with `sealEvents` or `sealBytes`
/// unsealed is sealed, as is the oldest block while all unsealed blocks are over `unsealedBytes`, which
/// they never exceed twofold; `liveContexts` may stay in memory unused; `walBytes` starts a
/// checkpoint; `memory` bounds what is in memory.
public record Tuning(
    int batchEvents,
    int batchBytes,
    int sealEvents,
    int sealBytes,
    int unsealedBytes,
    int liveContexts,
    long walBytes,
    MemoryLimits memory) {

  private static final int STATE_SEALS = 8;

  public Tuning {
    // Contexts that nobody uses must not keep out those that somebody needs.
    if (usedContexts(batchEvents, memory) <= liveContexts) {
      throw new IllegalArgumentException(
          "memory for " + memory.contexts() + " contexts is too little for these limits");
    }
  }

  /// Limits with the usual ones for memory.
  public Tuning(
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

  /// How many contexts always find a place in memory, however many are unsealed.
  int usedContexts() {
    return usedContexts(batchEvents, memory);
  }

  private static int usedContexts(int batchEvents, MemoryLimits memory) {
    return memory.contexts()
        - Math.max(MemoryLimits.HARD_FACTOR * memory.unsealedContexts(), batchEvents);
  }

  /// How many events lie between two stored states of a context, by which its past can be found.
  int stateEvents() {
    return STATE_SEALS * sealEvents;
  }

  /// What a server uses.
  public static final Tuning DEFAULT =
      new Tuning(4_096, 1 << 20, 256, 64 << 10, 16 << 20, 2_000, 16 << 20);
}
