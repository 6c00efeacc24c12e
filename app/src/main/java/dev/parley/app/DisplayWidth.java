package dev.parley.app;

import java.lang.Character.UnicodeScript;

/// Computes how many columns of a terminal a text takes.
final class DisplayWidth {

  private static final int EMOJI_FIRST = 0x1F300;
  private static final int EMOJI_LAST = 0x1FAFF;

  private DisplayWidth() {}

  static int of(String text) {
    return text.codePoints().map(DisplayWidth::of).sum();
  }

  private static int of(int point) {
    return switch (Character.getType(point)) {
      case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.FORMAT -> 0;
      default -> wide(point) ? 2 : 1;
    };
  }

  private static boolean wide(int point) {
    if (point < 0x1100) {
      return false;
    }
    if (in(point, EMOJI_FIRST, EMOJI_LAST)) {
      return true;
    }
    return switch (UnicodeScript.of(point)) {
      case HAN, HIRAGANA, KATAKANA, HANGUL, BOPOMOFO, YI -> !halfWidth(point);
      default ->
          in(point, 0x3000, 0x303F) || in(point, 0xFF01, 0xFF60) || in(point, 0xFFE0, 0xFFE6);
    };
  }

  private static boolean in(int point, int first, int last) {
    return point >= first && point <= last;
  }

  private static boolean halfWidth(int point) {
    return in(point, 0xFF61, 0xFFDC);
  }
}
