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

class OutputExcerptTest {

  @ParameterizedTest
  @ValueSource(strings = {"a", "ü", "€", "🙂"})
  void no_character_is_cut_wherever_the_cut_is(String character) {
    for (var before = 0; before < 5; before++) {
      var text = "x".repeat(before) + character.repeat(100) + "y".repeat(before);
      var outputExcerpt = filled(text);

      assertThat(outputExcerpt.text()).doesNotContain("\uFFFD").contains("bytes left out");
      assertThat(outputExcerpt.lastLine()).doesNotContain("\uFFFD");
    }
  }

  @Test
  void what_fits_is_whole_and_beyond_that_the_last_bytes_are_kept() {
    for (var length = 0; length < 100; length++) {
      var text =
          IntStream.range(0, length)
              .mapToObj(i -> String.valueOf((char) ('a' + i % 26)))
              .reduce("", String::concat);
      var outputExcerpt = filled(text);

      if (length <= 30) {
        assertThat(outputExcerpt.text()).isEqualTo(text);
      } else {
        assertThat(outputExcerpt.text())
            .isEqualTo(
                text.substring(0, 10)
                    + "\n[… %d bytes left out …]\n".formatted(length - 30)
                    + text.substring(length - 20));
      }
    }
  }

  @Test
  void a_stream_that_breaks_ends_it() throws IOException {
    var outputExcerpt = new OutputExcerpt(10, 20);
    var closed = InputStream.nullInputStream();
    closed.close();
    outputExcerpt.fill(closed);

    assertThat(outputExcerpt.text()).isEmpty();
    assertThat(outputExcerpt.lastLine()).isEmpty();
  }

  private static OutputExcerpt filled(String text) {
    var outputExcerpt = new OutputExcerpt(10, 20);
    outputExcerpt.fill(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    return outputExcerpt;
  }
}
