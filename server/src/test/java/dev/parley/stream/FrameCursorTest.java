package dev.parley.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The ids of frames, with which readers resume a stream.
class FrameCursorTest {

  private static FrameCursor cursor(String text) {
    return FrameCursor.parse(text);
  }

  @Test
  void the_frames_of_a_stream_stand_in_the_order_in_which_they_are_told() {
    var told = List.of("9", "10~1", "10~2", "10", "10.1~1", "10.1", "11");

    for (var i = 0; i < told.size(); i++) {
      for (var j = 0; j < told.size(); j++) {
        assertThat(cursor(told.get(i)).after(cursor(told.get(j))))
            .as("%s after %s", told.get(i), told.get(j))
            .isEqualTo(i > j);
      }
    }
  }

  @Test
  void only_the_last_frame_of_an_entry_says_that_all_of_it_was_read() {
    assertThat(FrameCursor.each("17", 3)).hasToString("[17~1, 17~2, 17]");
    assertThat(FrameCursor.each("17", 1)).containsExactly(FrameCursor.of(Position.of(17)));
  }

  @Test
  void an_id_is_read_as_it_was_written() {
    for (var id : List.of("17", "17.2", "17~3", "17.2~1", "feed-cursor~2")) {
      assertThat(cursor(id)).hasToString(id);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"17~", "17~0", "17~-1", "17~+1", "17~1~2", "17~x", "17~9999999999"})
  void what_is_no_part_is_refused(String text) {
    assertThatThrownBy(() -> cursor(text))
        .isInstanceOfSatisfying(
            Rejection.Invalid.class, it -> assertThat(it.code()).isEqualTo("invalid-cursor"));
  }
}
