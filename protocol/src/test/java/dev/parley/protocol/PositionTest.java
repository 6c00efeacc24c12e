package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PositionTest {

  @ParameterizedTest
  @ValueSource(strings = {"0", "1", "17", "17.2", "9223372036854775807", "1.2147483647"})
  void a_position_is_read_and_written_again(String text) {
    assertThat(Position.parse(text)).hasToString(text);
  }

  @Test
  void seventeen_is_the_same_as_seventeen_point_zero() {
    assertThat(Position.parse("17.0")).isEqualTo(Position.of(17));
    assertThat(Position.parse("0017")).isEqualTo(Position.of(17));
  }

  /// DESIGN §2.5: an invalid cursor gets a typed rejection.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "1.",
        ".1",
        ".",
        "..",
        "-1",
        "+1",
        "1.-2",
        "1.2.3",
        "1..2",
        "1,2",
        "a",
        "1a",
        "0x1",
        "1e3",
        " 1",
        "1 ",
        "1\n",
        "٣",
        "１",
        "null",
        "NaN",
        "9223372036854775808",
        "99999999999999999999",
        "1.2147483648",
        "1.99999999999",
        "../1",
        "1%00",
        "0000000000000000000000000000001"
      })
  void anything_else_is_refused_as_a_cursor(String text) {
    assertThatThrownBy(() -> Position.parse(text))
        .isInstanceOfSatisfying(
            Rejection.Invalid.class, r -> assertThat(r.code()).isEqualTo("invalid-cursor"));
  }

  @Test
  void a_huge_text_is_refused() {
    assertThatThrownBy(() -> Position.parse("1".repeat(1_000_000)))
        .isInstanceOf(Rejection.Invalid.class);
  }

  @Test
  void garbage_is_refused_or_read_as_it_stands() {
    var random = new Random(17);
    for (var i = 0; i < 100_000; i++) {
      var text = new StringBuilder();
      for (var j = random.nextInt(6); j >= 0; j--) {
        text.append("0123456789..-+ e".charAt(random.nextInt(16)));
      }
      try {
        var position = Position.parse(text.toString());
        assertThat(text.toString()).matches("\\d+(\\.\\d+)?");
        assertThat(Position.parse(position.toString())).isEqualTo(position);
      } catch (Rejection.Invalid refused) {
        assertThat(text.toString()).doesNotMatch("\\d+(\\.\\d+)?");
      }
    }
  }

  /// DESIGN §2.4: internal events are at `seq.k`, after public event `seq`.
  @Test
  void internal_positions_stand_between_public_ones() {
    var order =
        List.of(
            Position.START,
            new Position(0, 1),
            Position.of(1),
            new Position(1, 1),
            new Position(1, 2),
            new Position(1, 10),
            Position.of(2),
            Position.of(10));
    for (var i = 0; i < order.size(); i++) {
      for (var j = 0; j < order.size(); j++) {
        assertThat(order.get(i).after(order.get(j))).isEqualTo(i > j);
        assertThat(Integer.signum(order.get(i).compareTo(order.get(j))))
            .isEqualTo(Integer.compare(i, j));
      }
    }
  }

  @Test
  void the_next_public_position_starts_a_new_row_of_internal_ones() {
    var internal = Position.of(17).nextInternal().nextInternal();

    assertThat(internal).hasToString("17.2");
    assertThat(internal.nextPublic()).hasToString("18");
    assertThat(internal.nextPublic().nextInternal()).hasToString("18.1");
  }

  @Test
  void no_position_is_negative() {
    assertThatThrownBy(() -> new Position(-1, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Position(0, -1)).isInstanceOf(IllegalArgumentException.class);
  }
}
