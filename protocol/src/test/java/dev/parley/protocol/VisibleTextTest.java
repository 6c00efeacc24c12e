package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VisibleTextTest {

  @ParameterizedTest
  @ValueSource(
      ints = {
        0, 7, 8, 0xB, 0xC, 0xD, 0x1B, 0x7F, 0x85, 0x9B, 0xA0, 0xAD, 0x34F, 0x61C, 0x115F, 0x1160,
        0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C,
        0x202D, 0x202E, 0x202F, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0x2800, 0x3000, 0x3164,
        0xD800, 0xDFFF, 0xE000, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFF, 0xE0001, 0xE0041, 0xE0100,
        0x10FFFF
      })
  void a_character_that_cannot_be_seen_is_written_in_words(int point) {
    var text = "a" + Character.toString(point) + "b";

    assertThat(VisibleText.of(text))
        .isEqualTo("a\\u{" + Integer.toHexString(point).toUpperCase(java.util.Locale.ROOT) + "}b");
  }

  @Test
  void long_runs_are_counted() {
    assertThat(VisibleText.of("ls" + " ".repeat(300) + "; rm x")).isEqualTo("ls⟨300 spaces⟩; rm x");
    assertThat(VisibleText.of("ls\t".repeat(2) + "\t".repeat(20) + "x"))
        .isEqualTo("ls\tls⟨21 spaces⟩x");
    assertThat(VisibleText.of("ls" + "\n".repeat(50) + "rm x"))
        .isEqualTo("ls⟨50 line breaks⟩\nrm x");
    assertThat(VisibleText.of("a" + "\u0301".repeat(6)))
        .isEqualTo("a\u0301\u0301\u0301\u0301\\u{301}\\u{301}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "git status",
        "@@ -1 +1 @@\n-        if (a) {\n+        if (b) {",
        "größe 語 🦜 c\u0327 «ok»",
        "a\tb\n\nc"
      })
  void other_text_stays_as_it_is(String text) {
    assertThat(VisibleText.of(text)).isEqualTo(text);
  }

  @Test
  void what_was_made_visible_stays_so() {
    var once = VisibleText.of("a\u202eb" + " ".repeat(99) + "\u001b[2J\r");
    assertThat(VisibleText.of(once)).isEqualTo(once);
  }
}
