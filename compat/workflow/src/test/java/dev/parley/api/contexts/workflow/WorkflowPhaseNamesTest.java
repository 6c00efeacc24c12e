package dev.parley.api.contexts.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.contexts.workflow.WorkflowEnvelope.WorkflowPhase;
import dev.parley.http.StateNamesTable;
import dev.parley.protocol.TaskState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// `docs/names.md` has the names of this format: CORE-3.
class WorkflowPhaseNamesTest {

  @ParameterizedTest
  @EnumSource
  void the_table_of_names_has_the_word(TaskState state) {
    assertThat(StateNamesTable.word(state, "`format=workflow`"))
        .isEqualTo("`" + WorkflowPhase.of(state) + "`");
  }
}
