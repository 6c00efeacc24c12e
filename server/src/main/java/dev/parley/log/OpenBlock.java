package dev.parley.log;

/// A block of text that is being streamed: where it began, how many deltas and characters it has, and
/// a hash of them, by which its end can be stored without the text.
public record OpenBlock(long firstSeq, int count, int length, long hash) {

  // FNV-1a's: with 64 bits, two texts of one length that differ have the same hash by no accident.
  private static final long SEED = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  static OpenBlock begin(long seq) {
    return new OpenBlock(seq, 0, 0, SEED);
  }

  OpenBlock plus(String delta) {
    return new OpenBlock(firstSeq, count + 1, length + delta.length(), extend(hash, delta));
  }

  /// True if `content` is all the block's deltas, joined.
  boolean isWhole(String content) {
    return content.length() == length && extend(SEED, content) == hash;
  }

  /// The hash of the text so far followed by `delta`.
  private static long extend(long hash, String delta) {
    var result = hash;
    for (var i = 0; i < delta.length(); i++) {
      result = (result ^ delta.charAt(i)) * PRIME;
    }
    return result;
  }
}
