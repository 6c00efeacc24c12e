package dev.parley.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.Priority;
import dev.parley.protocol.ThoughtEvent.Stage;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.protocol.ThoughtEvent.Visibility;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.Outcome;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class WireNameTest {

  /// A wire name never changes, because stored logs contain it. New names are added.
  static Stream<Arguments> names() {
    return Stream.of(
        // EVENT-9, and `submitted` of DESIGN §3
        Arguments.of(
            TaskState.class,
            "submitted working waiting-input waiting-auth waiting-subtask completed failed"
                + " canceled"),
        Arguments.of(AgentLevel.class, "core subagent"), // WORKFLOW-1
        Arguments.of(Initiator.class, "user agent"), // EVENT-8
        Arguments.of(Priority.class, "low normal high critical"),
        // EVENT-17, and the reasons for an incomplete block
        Arguments.of(
            FinishReason.class,
            "stop length tool_calls content_filter interrupted canceled refusal"),
        Arguments.of(Mode.class, "parallel serial"), // WORKFLOW-12
        Arguments.of(Outcome.class, "outcome-unknown canceled interrupted"),
        // EVENT-26
        Arguments.of(
            InputType.class, "tool-execution confirmation clarification selection custom data"),
        Arguments.of(InputEvent.Provider.class, "user agent"), // EVENT-29
        Arguments.of(AuthType.class, "oauth2 api-key password biometric pat custom"), // EVENT-35
        Arguments.of(Encoding.class, "utf-8 base64"), // EVENT-40
        Arguments.of(Role.class, "user assistant system"),
        // EVENT-50
        Arguments.of(
            ThoughtType.class,
            "planning reasoning reflection decision observation strategy analysis thinking"),
        Arguments.of(Verbosity.class, "brief normal detailed"), // EVENT-50
        Arguments.of(Visibility.class, "internal user"), // EVENT-65
        Arguments.of(Stage.class, "pre-llm post-llm pre-tool post-tool"), // EVENT-51
        // EVENT-72
        Arguments.of(
            ErrorCode.class,
            "timeout rate_limited auth invalid_input tool_failed model_error interrupted limit"
                + " rejected internal crashed"),
        Arguments.of(ErrorScope.class, "task tool stream")); // EVENT-72
  }

  @ParameterizedTest
  @MethodSource("names")
  void names_on_the_wire_stay(Class<? extends Enum<?>> type, String names) {
    assertThat(
            Arrays.stream(type.getEnumConstants())
                .map(constant -> ((WireName) constant).wire())
                .collect(Collectors.joining(" ")))
        .isEqualTo(names);
  }

  @ParameterizedTest
  @MethodSource("names")
  void json_uses_the_names_on_the_wire(Class<? extends Enum<?>> type, String names) {
    var json = '"' + names.replace(" ", "\",\"") + '"';

    assertThat(Json.mapper().writeValueAsString(type.getEnumConstants()))
        .isEqualTo('[' + json + ']');
    assertThat(Json.mapper().readValue('[' + json + ']', type.arrayType()))
        .isEqualTo(type.getEnumConstants());
  }

  @Test
  void a_name_is_found_only_as_it_is_written() {
    assertThat(WireName.find(TaskState.class, "waiting-input")).contains(TaskState.WAITING_INPUT);
    assertThat(WireName.find(TaskState.class, "WAITING_INPUT")).isEmpty();
    assertThat(WireName.find(TaskState.class, "waiting_input")).isEmpty();
    assertThat(WireName.find(TaskState.class, "")).isEmpty();
  }

  @Test
  void an_unknown_name_is_refused_with_those_that_exist() {
    assertThat(WireName.parse(Role.class, "role", "user")).isEqualTo(Role.USER);
    assertThatThrownBy(() -> WireName.parse(Role.class, "role", "boss"))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessage("role must be one of user, assistant, system");
  }
}
