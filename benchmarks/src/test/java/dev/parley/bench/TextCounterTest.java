package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class TextCounterTest {

  @Test
  void a_text_is_found_wherever_it_is_and_nowhere_else() {
    var textCounter = new TextCounter("\"ababc\"");
    for (var hay :
        new String[] {"\"ababc\"", "ab\"abab\"ababc\"", "x\"ababc\"\"", "\"\"ababc\"é"}) {
      var bytes = hay.getBytes(StandardCharsets.UTF_8);
      assertThat(textCounter.occursIn(bytes, 0, bytes.length)).as(hay).isTrue();
      assertThat(textCounter.occursIn(bytes, bytes.length - 3, bytes.length)).as(hay).isFalse();
    }
    for (var hay : new String[] {"", "\"ababc", "\"ababx\"", "ababc\"\"ababd\"", "éééééééééé"}) {
      var bytes = hay.getBytes(StandardCharsets.UTF_8);
      assertThat(textCounter.occursIn(bytes, 0, bytes.length)).as(hay).isFalse();
    }
  }

  @Test
  void what_stands_beyond_the_end_is_not_looked_at() {
    var bytes = "xx\"a\"".getBytes(StandardCharsets.UTF_8);
    assertThat(new TextCounter("\"a\"").occursIn(bytes, 0, 4)).isFalse();
    assertThat(new TextCounter("\"a\"").occursIn(bytes, 0, 5)).isTrue();
  }
}
