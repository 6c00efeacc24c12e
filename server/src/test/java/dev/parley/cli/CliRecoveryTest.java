package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.World;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// What becomes of a command-line agent's tasks when the server stops and starts again.
@Timeout(60)
class CliRecoveryTest {

  @TempDir Path folder;

  @Test
  void an_approval_outlives_the_server() throws Exception {
    var log = World.newLog();
    TaskId task;
    InputRequired question;
    try (var cli = CliWorld.scripted(log, folder)) {
      task = cli.say("ask touch it");
      question = cli.question(task);
    }
    try (var cli = CliWorld.scripted(log, folder)) {
      cli.world.tasks().recover();
      assertThat(cli.all(task, InputLapsed.class)).isEmpty();
      cli.answer(question, BooleanNode.TRUE);

      assertThat(cli.answer(task)).isEqualTo("done");
      assertThat(cli.read("done")).isEqualTo("touch it");
      assertThat(cli.all(task, InputRequired.class)).hasSize(1);
      assertThat(cli.all(task, ToolComplete.class))
          .extracting(ToolComplete::outcome)
          .containsExactly(Outcome.INTERRUPTED, null);
    }
  }

  @Test
  void after_a_restart_the_session_goes_on_and_nothing_is_asked_twice() throws Exception {
    var log = World.newLog();
    TaskId task;
    try (var cli = CliWorld.scripted(log, folder)) {
      task = cli.say("open the door");
      cli.world.await(e -> e.event() instanceof ToolStart);
    }
    try (var cli = CliWorld.scripted(log, folder)) {
      cli.world.tasks().recover();

      assertThat(cli.answer(task)).startsWith("you said Go on with what you were asked");
      assertThat(cli.all(task, ToolComplete.class).getFirst().outcome())
          .isEqualTo(Outcome.OUTCOME_UNKNOWN);
      assertThat(cli.read("starts").lines().toList().getLast()).contains("--resume");
    }
  }

  @Test
  void without_a_session_a_task_that_was_cut_off_ends_as_interrupted() throws Exception {
    var log = World.newLog();
    TaskId task;
    Files.createDirectories(folder.resolve("home"));
    Files.writeString(folder.resolve("home/sleepy"), "sleep");
    try (var cli = CliWorld.scripted(log, folder)) {
      task = cli.say("say hello");
      cli.world.await(e -> e.event().internal());
    }
    Files.delete(folder.resolve("home/sleepy"));
    try (var cli = CliWorld.scripted(log, folder)) {
      cli.world.tasks().recover();

      assertThat(cli.world.end(task)).isEqualTo(TaskState.FAILED);
      assertThat(cli.world.reason(task)).isEqualTo("interrupted");
    }
  }
}
