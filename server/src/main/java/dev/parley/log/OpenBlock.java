package dev.parley.log;

/// A block of text that is being streamed: where it began, how many deltas and characters it has, and
/// a hash of them, by which its end can be stored without the text.
public record OpenBlock(long firstSeq, int count, int length, int hash) {

  static OpenBlock begin(long seq) {
    return new OpenBlock(seq, 0, 0, 0);
  }

  OpenBlock plus(String delta) {
    return new OpenBlock(firstSeq, count + 1, length + delta.length(), extend(hash, delta));
  }

  /// True if `content` is all the block's deltas, joined.
  boolean isWhole(String content) {
    return content.length() == length && content.hashCode() == hash;
  }

  /// `String.hashCode` of the text so far followed by `delta`.
  private static int extend(int hash, String delta) {
    var result = hash;
    for (var i = 0; i < delta.length(); i++) {
      result = 31 * result + delta.charAt(i);
    }
    return result;
  }
}
