package dev.parley.log;

/// How much of the log is in memory; tests make it small.
///
/// - `unsealedContexts` contexts have unsealed entries, which take `unsealedBytes` of memory: beyond
///   that, each commit also seals the oldest of them. Twice as much is never exceeded: a commit that
///   would do so first seals as many contexts as it takes, and the appends in it wait for that.
/// - `windowBytes` of sealed entries stay in memory for the readers of one context that wait for more,
///   and `windowsBytes` for those of all contexts.
/// - `contextKeys` idempotency keys of one context stay in memory, and `keys` of all contexts, besides
///   those that are being written. The others are looked up in the store.
/// - `contexts` are in memory, whatever they are needed for. Who needs one more waits up to
///   `waitMillis` until another is no longer used, and is then refused.
public record MemoryLimits(
    int unsealedContexts,
    long unsealedBytes,
    int windowBytes,
    long windowsBytes,
    int contextKeys,
    int keys,
    int contexts,
    int waitMillis) {

  /// How much more than what starts sealing is ever held unsealed.
  static final int HARD_FACTOR = 2;

  /// What a server uses.
  public static final MemoryLimits DEFAULT =
      new MemoryLimits(2_000, 64 << 20, 64 << 10, 64 << 20, 32, 50_000, 60_000, 10_000);
}
