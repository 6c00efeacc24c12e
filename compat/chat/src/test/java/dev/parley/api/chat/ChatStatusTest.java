package dev.parley.api.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.chat.AgentEvent.AgentEventType;
import dev.parley.api.chat.ChatTaskResults.ChatStatus;
import dev.parley.http.StateNamesTable;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.TaskState;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/// The status map of the chat API is total, and agrees with `docs/names.md`: CHAT-48, CHAT-84, CORE-3.
class ChatStatusTest {

  @Test
  void every_state_has_one_word() {
    for (var state : TaskState.values()) {
      for (var error : ErrorCode.values()) {
        assertThat(ChatStatus.of(state, error).ended()).isEqualTo(state.terminal());
      }
      assertThat(ChatStatus.of(state, null).ended()).isEqualTo(state.terminal());
    }
    assertThat(ChatStatus.of(TaskState.COMPLETED, null).wire()).isEqualTo("success");
    assertThat(ChatStatus.of(TaskState.FAILED, ErrorCode.TOOL_FAILED).wire()).isEqualTo("failure");
    assertThat(ChatStatus.of(TaskState.FAILED, ErrorCode.TIMEOUT).wire()).isEqualTo("timeout");
    assertThat(ChatStatus.of(TaskState.CANCELED, null).wire()).isEqualTo("cancelled");
  }

  @Test
  void the_table_of_names_has_each_state_with_its_word() {
    for (var state : TaskState.values()) {
      assertThat(StateNamesTable.word(state, "Chat API"))
          .startsWith("`" + ChatStatus.of(state, null).wire() + "`");
    }
    assertThat(StateNamesTable.word(TaskState.FAILED, "Chat API"))
        .contains("`" + ChatStatus.TIMEOUT.wire() + "`");
  }

  // CHAT-38, CHAT-65
  @Test
  void every_agent_event_has_a_chat_event() {
    assertThat(Arrays.stream(AgentEventType.values()).map(AgentEventType::ofTask))
        .containsExactlyInAnyOrder(
            "task:started",
            "task:progress",
            "task:output",
            "task:tool_call",
            "task:tool_result",
            "task:subagent_start",
            "task:subagent_stop",
            "task:completed",
            "task:failed",
            "task:cancelled");
    assertThat(Arrays.stream(AgentEventType.values()).map(AgentEventType::ofChat))
        .doesNotHaveDuplicates();
  }

  // CHAT-48
  @Test
  void task_types_are_those_of_the_document() {
    assertThat(ChatTaskTypes.ALL)
        .containsExactly(
            "general",
            "code_review",
            "code_generate",
            "code_refactor",
            "code_debug",
            "research",
            "research_web",
            "research_docs",
            "data_analysis",
            "data_transform",
            "data_visualize",
            "content_write",
            "documentation",
            "angular_project",
            "angular_component",
            "angular_feature",
            "angular_service",
            "angular_routing",
            "angular_testing",
            "angular_optimization");
  }
}
