package dev.parley.log;

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
