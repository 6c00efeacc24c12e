package dev.parley.tool;

import dev.parley.protocol.Rejection;

/// A pattern with wildcards. Matching takes at most pattern length times text length steps, for
/// every pattern: it does not try combinations.
public final class Glob {

  /// The maximum length of a pattern for names that a model sends.
  static final int NAME_PATTERN_MAX = 1_000;

  private static final int ANY_TEXT = -1;
  private static final int ANY_CHARACTER = -2;

  private final int[] pattern;
  private final boolean ignoreCase;

  private Glob(int[] pattern, boolean ignoreCase) {
    this.pattern = pattern;
    this.ignoreCase = ignoreCase;
  }

  /// A pattern in which `*` stands for any text. Upper and lower case differ.
  public static Glob of(String pattern) {
    return new Glob(pattern.codePoints().map(c -> c == '*' ? ANY_TEXT : c).toArray(), false);
  }

  /// A pattern of file names in which `*` stands for any text and `?` for one character. It ignores
  /// case.
  ///
  /// @throws Rejection.Invalid if it is too long
  static Glob ofNames(String pattern) {
    if (pattern.length() > NAME_PATTERN_MAX) {
      throw new Rejection.Invalid("pattern may have at most " + NAME_PATTERN_MAX + " characters");
    }
    var parsed =
        pattern
            .codePoints()
            .map(c -> c == '*' ? ANY_TEXT : c == '?' ? ANY_CHARACTER : fold(c))
            .toArray();
    return new Glob(parsed, true);
  }

  /// True if the whole text matches.
  public boolean matches(String text) {
    var at = 0;
    var next = 0;
    // The last `*` that was passed, and the end of the text that it matches. An earlier one never
    // needs to match more: the last one can match it instead.
    var star = -1;
    var taken = 0;
    while (at < text.length()) {
      var letter = text.codePointAt(at);
      if (next < pattern.length && fits(pattern[next], letter)) {
        next++;
        at += Character.charCount(letter);
      } else if (next < pattern.length && pattern[next] == ANY_TEXT) {
        star = next++;
        taken = at;
      } else if (star >= 0) {
        taken += Character.charCount(text.codePointAt(taken));
        at = taken;
        next = star + 1;
      } else {
        return false;
      }
    }
    while (next < pattern.length && pattern[next] == ANY_TEXT) {
      next++;
    }
    return next == pattern.length;
  }

  private boolean fits(int wanted, int letter) {
    return wanted == ANY_CHARACTER || wanted == (ignoreCase ? fold(letter) : letter);
  }

  private static int fold(int letter) {
    return Character.toLowerCase(Character.toUpperCase(letter));
  }
}
