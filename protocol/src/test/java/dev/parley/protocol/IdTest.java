package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// DESIGN §5: ids that clients may choose have 1 to 128 of `A-Za-z0-9._:-`.
class IdTest {

  private static final String ALLOWED =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";

  static Stream<Class<? extends Id>> types() {
    return Arrays.stream(Id.class.getPermittedSubclasses()).map(type -> type.asSubclass(Id.class));
  }

  @Test
  void every_other_character_is_refused() {
    for (var c = 0; c <= Character.MAX_VALUE; c++) {
      var character = String.valueOf((char) c);

      assertThat(Id.valid(character)).isEqualTo(ALLOWED.contains(character));
      assertThat(Id.valid("a" + character)).isEqualTo(ALLOWED.contains(character));
    }
  }

  @Test
  void an_id_has_1_to_128_characters() {
    assertThat(Id.valid("")).isFalse();
    assertThat(Id.valid("a")).isTrue();
    assertThat(Id.valid("a".repeat(128))).isTrue();
    assertThat(Id.valid("a".repeat(129))).isFalse();
  }

  @ParameterizedTest
  @MethodSource("types")
  void an_id_is_its_value(Class<? extends Id> type) throws ReflectiveOperationException {
    var id = type.getConstructor(String.class).newInstance(ALLOWED);

    assertThat(id.value()).isEqualTo(ALLOWED);
    assertThat(id).hasToString(ALLOWED);
    assertThat(Json.mapper().writeValueAsString(id)).isEqualTo('"' + ALLOWED + '"');
    assertThat(Json.mapper().readValue('"' + ALLOWED + '"', type)).isEqualTo(id);
  }

  @ParameterizedTest
  @MethodSource("types")
  void what_is_not_an_id_is_refused_by_name(Class<? extends Id> type) {
    assertThatThrownBy(() -> type.getConstructor(String.class).newInstance("../../etc"))
        .isInstanceOf(InvocationTargetException.class)
        .cause()
        .isInstanceOfSatisfying(
            Rejection.Invalid.class, r -> assertThat(r.code()).isEqualTo("invalid-id"))
        .hasMessageEndingWith("Id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -");
  }
}
