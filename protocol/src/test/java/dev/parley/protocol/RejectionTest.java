package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RejectionTest {

  static Stream<Arguments> rejections() {
    return Stream.of(
        Arguments.of(new Rejection.Invalid("why"), "invalid"),
        Arguments.of(new Rejection.Invalid("invalid-id", "why"), "invalid-id"),
        Arguments.of(new Rejection.Unauthorized("why"), "unauthorized"),
        Arguments.of(new Rejection.Forbidden("read-only", "why"), "read-only"),
        Arguments.of(new Rejection.NotFound("why"), "not-found"),
        Arguments.of(new Rejection.Conflict("busy", "why"), "busy"),
        Arguments.of(new Rejection.Stale("why"), "stale"),
        Arguments.of(new Rejection.Gone("why"), "gone"),
        Arguments.of(new Rejection.Damaged("why"), "context-damaged"),
        Arguments.of(new Rejection.TooLarge("body-too-large", "why"), "body-too-large"),
        Arguments.of(new Rejection.Busy("too-many-streams", "why"), "too-many-streams"),
        Arguments.of(new Rejection.Unavailable("why"), "unavailable"));
  }

  @ParameterizedTest
  @MethodSource("rejections")
  void a_rejection_has_a_code_for_programs_and_a_message_for_people(
      Rejection rejection, String code) {
    assertThat(rejection.code()).isEqualTo(code);
    assertThat(rejection).hasMessage("why");
  }

  @Test
  void every_rejection_is_covered_here() {
    assertThat(rejections().<Class<?>>map(arguments -> arguments.get()[0].getClass()).distinct())
        .containsExactlyInAnyOrder(Rejection.class.getPermittedSubclasses());
  }

  /// There may be thousands of rejections.
  @Test
  void a_rejection_costs_no_stack_trace() {
    assertThat(new Rejection.Invalid("why").getStackTrace()).isEmpty();
  }
}
