package dev.parley.agent;

import static dev.parley.agent.QuestionsTest.answer;
import static dev.parley.agent.QuestionsTest.asked;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Approvals with edited arguments, and approvals that are canceled.
@Timeout(120)
class ApprovalsTest {

  @TempDir Path folder;

  private final TestTool guarded = TestTool.echo("guarded", Permission.ASK);

  @Test
  void edited_arguments_that_do_not_fit_are_refused_and_the_question_stays() throws Exception {
    var files = BuiltInTools.named(List.of("read_file"), BuiltInTools.all(InstantSource.system()));
    var ask = new ToolPolicy(Permission.ASK, List.of(), List.of(), List.of());
    Files.writeString(folder.resolve("a.txt"), "what is in it");
    try (var taskTestBed =
        TestTeam.world(
            TaskTestBed.newLog(), folder, TaskLimits.DEFAULT, ask, files.toArray(Tool[]::new))) {
      var task = taskTestBed.submit("!read_file {\"path\":\"b.txt\"}").taskId();
      var asked = asked(taskTestBed, task);

      assertThatThrownBy(() -> answer(taskTestBed, asked.inputId(), edited("{\"path\":7}")))
          .isInstanceOf(Rejection.Invalid.class)
          .hasMessageContaining("path");
      assertThatThrownBy(() -> answer(taskTestBed, asked.inputId(), edited("{\"file\":\"a.txt\"}")))
          .isInstanceOf(Rejection.Invalid.class);

      answer(taskTestBed, asked.inputId(), edited("{\"path\":\"a.txt\"}"));
      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).contains("what is in it");
    }
  }

  private static JsonNode edited(String arguments) {
    var value = Json.object().put("approved", true);
    value.set("arguments", Json.mapper().readTree(arguments));
    return value;
  }

  @Test
  void a_call_that_waits_for_approval_can_be_canceled_by_itself() throws Exception {
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, guarded)) {
      var task = taskTestBed.submit("!guarded {\"n\":1}").taskId();
      var asked = asked(taskTestBed, task);

      taskTestBed
          .tasks()
          .cancelTool(
              TaskTestBed.CONTEXT,
              task,
              new ToolCallId(asked.metadata().path("toolCallId").asString("")),
              "ada");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called()).isEmpty();
      assertThat(taskTestBed.answer(task).content())
          .contains("this call was not approved: canceled");
    }
  }
}
