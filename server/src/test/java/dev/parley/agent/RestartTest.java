package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.log.EventLog;
import dev.parley.log.SqliteLog;
import dev.parley.log.Tuning;
import dev.parley.model.OfflineModel;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.Kind;
import dev.parley.protocol.TaskState;
import dev.parley.task.Accepted;
import dev.parley.task.History;
import dev.parley.task.Limits;
import dev.parley.task.World;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.Toolbox;
import dev.parley.view.ArtifactView;
import dev.parley.view.MessageView;
import dev.parley.view.Views;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The assistant on the real store and the real projection.
@Timeout(60)
class RestartTest {

  @TempDir Path data;
  @TempDir Path folder;

  @Test
  void artifacts_and_answers_are_there_after_a_restart() throws Exception {
    Files.writeString(folder.resolve("a.csv"), "name,amount\nx,1\ny,2\n");
    try (var log = open();
        var views = new Views(data.resolve("views.db"), log);
        var world = world(log, views)) {
      log.create(World.CONTEXT, new ContextCreated("local", null, null));
      assertThat(world.end(world.say("summarise the csv files here").taskId()))
          .isEqualTo(TaskState.COMPLETED);
    }
    try (var log = open();
        var views = new Views(data.resolve("views.db"), log);
        var world = world(log, views)) {
      world.tasks().recover();

      assertThat(views.artifacts(World.CONTEXT, null, 10).items())
          .extracting(artifact -> artifact.artifactId().value(), ArtifactView::status)
          .containsExactly(
              tuple("csv-rows", ArtifactView.Status.COMPLETE),
              tuple("csv-summary", ArtifactView.Status.COMPLETE),
              tuple("csv-report.md", ArtifactView.Status.COMPLETE));
      assertThat(views.latestMessages(World.CONTEXT, 10))
          .extracting(MessageView::content)
          .hasSize(2)
          .last()
          .asString()
          .contains("amount from 1 to 2, mean 1.5");
    }
  }

  @Test
  void what_ran_when_the_server_stopped_goes_on_and_what_waited_runs() throws Exception {
    var accepted = new Accepted[2];
    try (var log = open();
        var views = new Views(data.resolve("views.db"), log);
        var world = world(log, views)) {
      log.create(World.CONTEXT, new ContextCreated("local", null, null));
      accepted[0] = world.say("count slowly to 30");
      accepted[1] = world.say("say after the restart");
      world.awaitKind(accepted[0].taskId(), Kind.CONTENT_DELTA);
    }
    try (var log = open();
        var views = new Views(data.resolve("views.db"), log);
        var world = world(log, views)) {
      world.tasks().recover();

      assertThat(world.end(accepted[0].taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(accepted[0].taskId()).content()).startsWith("1 2 3").endsWith("30");
      assertThat(world.end(accepted[1].taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(accepted[1].taskId()).content()).isEqualTo("after the restart");
    }
  }

  private EventLog open() {
    return SqliteLog.open(
        new SqliteLog.Parts(data, World.SOURCES.clock(), new SecureRandom(), Tuning.DEFAULT));
  }

  private World world(EventLog log, Views views) {
    var history = History.of(views);
    var tools = BuiltInTools.all(World.SOURCES.clock());
    var model = new OfflineModel(World.SOURCES.ids(), OfflineModel.PACE);
    var type =
        new AgentType(World.AGENT, "Assistant", "", "", model, Toolbox.of(tools), Policy.USUAL);
    var memory = new Memory(log, history, Limits.DEFAULT.loop());
    var parts = new ModelLoop.Parts(memory, new Coordinators(Map.of()), Limits.DEFAULT);
    return World.with(log, new ModelLoop(type, parts), folder, Limits.DEFAULT);
  }
}
