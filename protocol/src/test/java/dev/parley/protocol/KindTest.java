package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtEvent.Visibility;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class KindTest {

  /// Stored logs contain these numbers and names: lines are added, never edited.
  private static final String GOLDEN =
      """
      1 task-created
      2 task-status
      3 task-complete
      4 content-delta
      5 content-complete
      6 tool-start
      7 tool-progress
      8 tool-complete
      9 input-required
      10 input-received
      11 input-lapsed
      12 auth-required
      13 auth-completed
      14 auth-lapsed
      15 file-write
      16 data-write
      17 dataset-write
      18 subtask-created
      19 subtask-complete
      20 thought-stream
      21 internal:thought-process
      22 internal:llm-call
      23 internal:checkpoint
      24 context-created
      25 context-updated
      26 context-rewound
      27 context-forked
      28 state-updated
      29 message
      30 message-updated
      31 message-deleted
      32 task-stored
      33 task-deleted
      34 cancel-requested
      35 usage
      36 error
      37 internal:raw
      """;

  @Test
  void numbers_and_names_stay() {
    var kinds =
        Arrays.stream(Kind.values())
            .map(kind -> kind.code() + " " + kind.wire() + "\n")
            .collect(Collectors.joining());

    assertThat(kinds).isEqualTo(GOLDEN);
  }

  @ParameterizedTest
  @EnumSource
  void a_kind_is_found_by_its_name_its_number_and_its_events(Kind kind) {
    assertThat(Kind.find(kind.wire())).contains(kind);
    assertThat(Kind.ofCode(kind.code())).isEqualTo(kind);
    assertThat(Kind.of(new RandomEvents(1).event(kind))).isEqualTo(kind);
  }

  @Test
  void every_record_of_an_event_has_a_kind() {
    var records =
        Arrays.stream(Event.class.getPermittedSubclasses())
            .flatMap(subject -> Stream.of(subject.getPermittedSubclasses()));

    assertThat(records)
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(Kind.values()).<Class<?>>map(Kind::type).toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "TASK_CREATED", "task_created", "checkpoint", "internal:", "artifact-delta"})
  void no_other_name_is_a_kind(String name) {
    assertThat(Kind.find(name)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 38, Integer.MAX_VALUE})
  void no_other_number_is_a_kind(int code) {
    assertThatThrownBy(() -> Kind.ofCode(code)).isInstanceOf(IllegalArgumentException.class);
  }

  /// EVENT-53 and EVENT-58.
  @ParameterizedTest
  @EnumSource
  void internal_kinds_say_so_in_their_names_but_not_in_the_event_field(Kind kind) {
    assertThat(kind.internal()).isEqualTo(kind.wire().startsWith("internal:"));
    assertThat(kind.sseName()).isEqualTo(kind.wire().replace("internal:", ""));
    if (kind != Kind.THOUGHT_STREAM) {
      assertThat(new RandomEvents(1).event(kind).internal()).isEqualTo(kind.internal());
    }
  }

  /// EVENT-65.
  @Test
  void a_thought_is_internal_if_it_says_so() {
    var events = new RandomEvents(65);
    for (var i = 0; i < 100; i++) {
      var thought = (ThoughtStream) events.event(Kind.THOUGHT_STREAM);

      assertThat(thought.internal()).isEqualTo(thought.visibility() == Visibility.INTERNAL);
    }
  }
}
