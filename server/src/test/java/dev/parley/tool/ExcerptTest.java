package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExcerptTest {

  @ParameterizedTest
  @ValueSource(strings = {"a", "ü", "€", "🙂"})
  void no_character_is_cut_wherever_the_cut_is(String character) {
    for (var before = 0; before < 5; before++) {
      var text = "x".repeat(before) + character.repeat(100) + "y".repeat(before);
      var excerpt = filled(text);

      assertThat(excerpt.text()).doesNotContain("\uFFFD").contains("bytes left out");
      assertThat(excerpt.lastLine()).doesNotContain("\uFFFD");
    }
  }

  @Test
  void what_fits_is_whole_and_beyond_that_the_last_bytes_are_kept() {
    for (var length = 0; length < 100; length++) {
      var text =
          IntStream.range(0, length)
              .mapToObj(i -> String.valueOf((char) ('a' + i % 26)))
              .reduce("", String::concat);
      var excerpt = filled(text);

      if (length <= 30) {
        assertThat(excerpt.text()).isEqualTo(text);
      } else {
        assertThat(excerpt.text())
            .isEqualTo(
                text.substring(0, 10)
                    + "\n[… %d bytes left out …]\n".formatted(length - 30)
                    + text.substring(length - 20));
      }
    }
  }

  @Test
  void a_stream_that_breaks_ends_it() throws IOException {
    var excerpt = new Excerpt(10, 20);
    var closed = InputStream.nullInputStream();
    closed.close();
    excerpt.fill(closed);

    assertThat(excerpt.text()).isEmpty();
    assertThat(excerpt.lastLine()).isEmpty();
  }

  private static Excerpt filled(String text) {
    var excerpt = new Excerpt(10, 20);
    excerpt.fill(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    return excerpt;
  }
}
