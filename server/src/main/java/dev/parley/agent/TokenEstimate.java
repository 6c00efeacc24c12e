package dev.parley.agent;

/// An estimate of the number of tokens in a text: each model counts differently, and reports its
/// count only afterwards.
///
/// Four Latin characters (letters, digits, punctuation, blanks) count as one token, and any other
/// character counts as one. Most models count fewer tokens, so that a text that fits by this
/// estimate does fit.
public final class TokenEstimate {

  private static final int LATIN_END = 0x250;
  private static final int QUARTERS = 4;

  private TokenEstimate() {}

  /// The approximate number of tokens in the text.
  public static long of(String text) {
    // A loop and not a stream: each new task estimates all messages of its conversation.
    var quarters = 0L;
    for (var i = 0; i < text.length(); i++) {
      quarters += quarters(text.charAt(i));
    }
    return (quarters + QUARTERS - 1) / QUARTERS;
  }

  /// The start of the text with at most this many tokens; the whole text if it fits.
  static String truncate(String text, long tokensMax) {
    var room = tokensMax * QUARTERS;
    for (var i = 0; i < text.length(); i++) {
      room -= quarters(text.charAt(i));
      if (room < 0) {
        // Not inside a surrogate pair.
        var end = i > 0 && Character.isLowSurrogate(text.charAt(i)) ? i - 1 : i;
        return text.substring(0, end) + "…";
      }
    }
    return text;
  }

  private static long quarters(int character) {
    return character < LATIN_END ? 1 : QUARTERS;
  }
}
