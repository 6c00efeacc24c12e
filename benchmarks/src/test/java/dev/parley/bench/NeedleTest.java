package dev.parley.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class NeedleTest {

  @Test
  void a_text_is_found_wherever_it_is_and_nowhere_else() {
    var needle = new Needle("\"ababc\"");
    for (var hay :
        new String[] {"\"ababc\"", "ab\"abab\"ababc\"", "x\"ababc\"\"", "\"\"ababc\"é"}) {
      var bytes = hay.getBytes(StandardCharsets.UTF_8);
      assertThat(needle.in(bytes, 0, bytes.length)).as(hay).isTrue();
      assertThat(needle.in(bytes, bytes.length - 3, bytes.length)).as(hay).isFalse();
    }
    for (var hay : new String[] {"", "\"ababc", "\"ababx\"", "ababc\"\"ababd\"", "éééééééééé"}) {
      var bytes = hay.getBytes(StandardCharsets.UTF_8);
      assertThat(needle.in(bytes, 0, bytes.length)).as(hay).isFalse();
    }
  }

  @Test
  void what_stands_beyond_the_end_is_not_looked_at() {
    var bytes = "xx\"a\"".getBytes(StandardCharsets.UTF_8);
    assertThat(new Needle("\"a\"").in(bytes, 0, 4)).isFalse();
    assertThat(new Needle("\"a\"").in(bytes, 0, 5)).isTrue();
  }
}
