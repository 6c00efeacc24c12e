package dev.parley.log;

/// A block of text that is being streamed: its first seq, its number of deltas and characters, and
/// a hash of its text. With the hash, the end of the block can be stored without the text.
public record OpenBlock(long firstSeq, int count, int length, long hash) {

  // FNV-1a. With 64 bits, an accidental collision of two different texts of the same length is
  // practically impossible.
  private static final long SEED = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  static OpenBlock begin(long seq) {
    return new OpenBlock(seq, 0, 0, SEED);
  }

  OpenBlock plus(String delta) {
    return new OpenBlock(firstSeq, count + 1, length + delta.length(), extend(hash, delta));
  }

  /// True if `content` equals the joined deltas of the block.
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
