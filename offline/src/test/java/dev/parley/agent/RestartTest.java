package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.log.EventLog;
import dev.parley.log.SqliteLog;
import dev.parley.log.TestLogs;
import dev.parley.offline.OfflineModel;
import dev.parley.projection.TestViews;
import dev.parley.projection.Views;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.Kind;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.TaskState;
import dev.parley.task.ContextHistory;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.Toolbox;
import java.nio.file.Files;
import java.nio.file.Path;
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
        var views = TestViews.open(data.resolve("views.db"), log);
        var taskTestBed = world(log, views)) {
      log.create(TaskTestBed.CONTEXT, new ContextCreated("local", null, null));
      assertThat(taskTestBed.awaitEnd(taskTestBed.submit("summarise the csv files here").taskId()))
          .isEqualTo(TaskState.COMPLETED);
    }
    try (var log = open();
        var views = TestViews.open(data.resolve("views.db"), log);
        var taskTestBed = world(log, views)) {
      taskTestBed.tasks().recover();

      assertThat(views.artifacts(TaskTestBed.CONTEXT, null, 10).items())
          .extracting(artifact -> artifact.artifactId().value(), ArtifactView::status)
          .containsExactly(
              tuple("csv-rows", ArtifactView.ArtifactStatus.COMPLETE),
              tuple("csv-summary", ArtifactView.ArtifactStatus.COMPLETE),
              tuple("csv-report.md", ArtifactView.ArtifactStatus.COMPLETE));
      assertThat(views.latestMessages(TaskTestBed.CONTEXT, 10))
          .extracting(MessageView::content)
          .hasSize(2)
          .last()
          .asString()
          .contains("amount from 1 to 2, mean 1.5");
    }
  }

  @Test
  void what_ran_when_the_server_stopped_goes_on_and_what_waited_runs() throws Exception {
    var accepted = new AcceptedMessage[2];
    try (var log = open();
        var views = TestViews.open(data.resolve("views.db"), log);
        var taskTestBed = world(log, views)) {
      log.create(TaskTestBed.CONTEXT, new ContextCreated("local", null, null));
      accepted[0] = taskTestBed.submit("count slowly to 30");
      accepted[1] = taskTestBed.submit("say after the restart");
      taskTestBed.awaitKind(accepted[0].taskId(), Kind.CONTENT_DELTA);
    }
    try (var log = open();
        var views = TestViews.open(data.resolve("views.db"), log);
        var taskTestBed = world(log, views)) {
      taskTestBed.tasks().recover();

      assertThat(taskTestBed.awaitEnd(accepted[0].taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(accepted[0].taskId()).content())
          .startsWith("1 2 3")
          .endsWith("30");
      assertThat(taskTestBed.awaitEnd(accepted[1].taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(accepted[1].taskId()).content()).isEqualTo("after the restart");
    }
  }

  private EventLog open() {
    return SqliteLog.open(TestLogs.in(data));
  }

  private TaskTestBed world(EventLog log, Views views) {
    var contextHistory = ContextHistory.of(views);
    var tools = BuiltInTools.all(TaskTestBed.SOURCES.time());
    var model =
        new OfflineModel(TaskTestBed.SOURCES.ids(), OfflineModel.PACE, TaskTestBed.SOURCES.time());
    var type =
        new ModelAgentType(
            TaskTestBed.AGENT, "Assistant", "", "", model, Toolbox.of(tools), ToolPolicy.DEFAULT);
    var conversationMemory = new ConversationMemory(log, contextHistory, TaskLimits.DEFAULT.loop());
    var modelLoopDependencies =
        new ModelLoop.ModelLoopDependencies(
            conversationMemory, new ParentAgentQuestions(Map.of()), TaskLimits.DEFAULT);
    return TaskTestBed.with(
        log, new ModelLoop(type, modelLoopDependencies), folder, TaskLimits.DEFAULT);
  }
}
