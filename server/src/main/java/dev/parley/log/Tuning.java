package dev.parley.log;

/// The store's limits; tests make them small.
///
/// `batchEvents` and `batchBytes` bound a group commit; a context with `sealEvents` or `sealBytes`
/// unsealed is sealed, as is the oldest block while all unsealed data is over `unsealedBytes`;
/// `liveContexts` may stay in memory unused; `walBytes` starts a checkpoint.
public record Tuning(
    int batchEvents,
    int batchBytes,
    int sealEvents,
    int sealBytes,
    int unsealedBytes,
    int liveContexts,
    long walBytes) {

  private static final int STATE_SEALS = 8;

  /// How many events lie between two stored states of a context, by which its past can be found.
  int stateEvents() {
    return STATE_SEALS * sealEvents;
  }

  /// What a server uses.
  public static final Tuning DEFAULT =
      new Tuning(4_096, 1 << 20, 256, 64 << 10, 16 << 20, 2_000, 16 << 20);
}
