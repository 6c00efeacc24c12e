package dev.parley.protocol;

import static dev.parley.protocol.TaskState.CANCELED;
import static dev.parley.protocol.TaskState.COMPLETED;
import static dev.parley.protocol.TaskState.FAILED;
import static dev.parley.protocol.TaskState.SUBMITTED;
import static dev.parley.protocol.TaskState.WAITING_AUTH;
import static dev.parley.protocol.TaskState.WAITING_INPUT;
import static dev.parley.protocol.TaskState.WAITING_SUBTASK;
import static dev.parley.protocol.TaskState.WORKING;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TaskStateTest {

  private static final Set<TaskState> AFTER_WAITING =
      Set.of(WORKING, WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK, FAILED, CANCELED);

  /// EVENT-14: every other transition is impossible.
  private static final Map<TaskState, Set<TaskState>> ALLOWED =
      Map.of(
          SUBMITTED,
          Set.of(SUBMITTED, WORKING, FAILED, CANCELED),
          WORKING,
          Set.of(
              WORKING, WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK, COMPLETED, FAILED, CANCELED),
          WAITING_INPUT,
          AFTER_WAITING,
          WAITING_AUTH,
          AFTER_WAITING,
          WAITING_SUBTASK,
          AFTER_WAITING,
          COMPLETED,
          Set.of(),
          FAILED,
          Set.of(),
          CANCELED,
          Set.of());

  @ParameterizedTest
  @EnumSource
  void a_task_goes_only_where_it_may(TaskState state) {
    var next = EnumSet.allOf(TaskState.class);
    next.removeIf(other -> !state.mayBecome(other));

    assertThat(next).isEqualTo(ALLOWED.get(state));
  }

  /// DESIGN §2.9: nothing after a terminal event.
  @ParameterizedTest
  @EnumSource
  void a_task_has_ended_exactly_when_it_can_go_nowhere(TaskState state) {
    assertThat(state.terminal()).isEqualTo(ALLOWED.get(state).isEmpty());
  }

  @ParameterizedTest
  @EnumSource
  void a_task_waits_exactly_in_the_states_that_say_so(TaskState state) {
    assertThat(state.waiting()).isEqualTo(state.wire().startsWith("waiting-"));
  }
}
