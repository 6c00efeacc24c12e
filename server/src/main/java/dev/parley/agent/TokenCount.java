package dev.parley.agent;

/// How many tokens a text is, about: each model counts in its own way, and says how much it was only afterwards.
///
/// Four Latin characters (letters, digits, punctuation, blanks) make a token, and any other makes one by itself.
/// That is more than most models count, so that what is thought to fit does.
public final class TokenCount {

  private static final int LATIN_END = 0x250;
  private static final int QUARTERS = 4;

  private TokenCount() {}

  /// About how many tokens the text is.
  public static long of(String text) {
    return (text.chars().mapToLong(TokenCount::quarters).sum() + QUARTERS - 1) / QUARTERS;
  }

  /// The beginning of a text that has at most so many tokens; all of it if that fits.
  static String head(String text, long tokensMax) {
    var room = tokensMax * QUARTERS;
    for (var i = 0; i < text.length(); i++) {
      room -= quarters(text.charAt(i));
      if (room < 0) {
        // Not between the two halves of one character.
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
