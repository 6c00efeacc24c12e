package dev.parley.agent;

import static dev.parley.agent.QuestionsTest.answer;
import static dev.parley.agent.QuestionsTest.asked;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.task.Limits;
import dev.parley.task.World;
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
    var ask = new Policy(Permission.ASK, List.of(), List.of(), List.of());
    Files.writeString(folder.resolve("a.txt"), "what is in it");
    try (var world =
        Team.world(World.newLog(), folder, Limits.DEFAULT, ask, files.toArray(Tool[]::new))) {
      var task = world.say("!read_file {\"path\":\"b.txt\"}").taskId();
      var asked = asked(world, task);

      assertThatThrownBy(() -> answer(world, asked.inputId(), edited("{\"path\":7}")))
          .isInstanceOf(Rejection.Invalid.class)
          .hasMessageContaining("path");
      assertThatThrownBy(() -> answer(world, asked.inputId(), edited("{\"file\":\"a.txt\"}")))
          .isInstanceOf(Rejection.Invalid.class);

      answer(world, asked.inputId(), edited("{\"path\":\"a.txt\"}"));
      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(task).content()).contains("what is in it");
    }
  }

  private static JsonNode edited(String arguments) {
    var value = Json.object().put("approved", true);
    value.set("arguments", Json.mapper().readTree(arguments));
    return value;
  }

  @Test
  void a_call_that_waits_for_approval_can_be_canceled_by_itself() throws Exception {
    try (var world = Team.world(World.newLog(), folder, guarded)) {
      var task = world.say("!guarded {\"n\":1}").taskId();
      var asked = asked(world, task);

      world
          .tasks()
          .cancelTool(
              World.CONTEXT,
              task,
              new ToolCallId(asked.metadata().path("toolCallId").asString("")),
              "ada");

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(guarded.called()).isEmpty();
      assertThat(world.answer(task).content()).contains("this call was not approved: canceled");
    }
  }
}
