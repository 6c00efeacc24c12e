package dev.parley.api.a2a.sessions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Rejection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentReferencesTest {

  private static final AgentTypeId WRITER = new AgentTypeId("agent-writer");

  private final AgentReferences references =
      new AgentReferences(
          List.of(
              new AgentTypeView(
                  WRITER, "Writer", null, "llm", null, List.of(), List.of(), List.of())));

  @ParameterizedTest
  @ValueSource(strings = {"agent-writer", "team/agent-writer", "team__NS__agent_writer"})
  void an_agent_is_found_by_each_form_of_its_name(String reference) {
    assertThat(references.find(reference)).isEqualTo(WRITER);
  }

  @Test
  void an_unknown_agent_is_rejected() {
    assertThatThrownBy(() -> references.find("team/agent-reader"))
        .isInstanceOf(Rejection.NotFound.class)
        .hasMessageContaining("team/agent-reader");
  }
}
