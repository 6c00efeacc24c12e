package dev.parley.door.contexts.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.door.NamesTable;
import dev.parley.protocol.TaskState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// `docs/names.md` has the names of this format: X.3.
class PhaseNamesTest {

  @ParameterizedTest
  @EnumSource
  void the_table_of_names_has_the_word(TaskState state) {
    assertThat(NamesTable.word(state, "`format=workflow`")).isEqualTo("`" + Phase.of(state) + "`");
  }
}
