package dev.parley.api.agents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.http.StateNamesTable;
import dev.parley.protocol.TaskState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// `docs/names.md` has the names of the agents API: CORE-3.
class AgentStatusNamesTest {

  @ParameterizedTest
  @EnumSource
  void the_table_of_names_has_the_word(TaskState state) {
    assertThat(StateNamesTable.word(state, "Agents API"))
        .isEqualTo("`" + AgentStatus.of(state).wire() + "`");
  }
}
