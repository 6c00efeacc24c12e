package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.BlockLog;
import dev.parley.log.SqliteLog;
import dev.parley.log.TestLogs;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.task.LogInvariants;
import dev.parley.task.Submission;
import dev.parley.task.TaskLimits;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Five hundred parallel tasks on one log on disk, each with sub-agents and tools.
@Timeout(180)
class ManyTasksTest {

  private static final int TASKS = 500;
  private static final long HEAP_MAX = 256L << 20;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir Path folder;

  @Test
  void five_hundred_tasks_with_sub_agents_all_end_with_the_right_answers() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    var sqliteLogDependencies = TestLogs.in(folder.resolve("data"));
    try (var log = SqliteLog.open(sqliteLogDependencies);
        var taskTestBed =
            TestTeam.world(log, folder, TaskLimits.DEFAULT, ToolPolicy.DEFAULT, echo)) {
      var tasks = new LinkedHashMap<ContextId, TaskId>();
      for (var i = 0; i < TASKS; i++) {
        var context = new ContextId("context-" + i);
        log.create(context, new ContextCreated("local", null, null));
        var text =
            SubagentsTest.batch(
                Mode.PARALLEL, "!echo {\"n\":" + i + "}", SubagentsTest.hand("c", "deep " + i));
        var submission =
            new Submission(
                context, "local", text, null, Submission.TaskOptions.NONE, AppendGuard.none());
        tasks.put(context, taskTestBed.tasks().submit(submission).taskId());
      }
      for (var task : tasks.entrySet()) {
        awaitEnd(log, task.getKey());
      }

      assertThat(echo.called()).hasSize(TASKS);
      for (var task : tasks.entrySet()) {
        check(log, task.getKey(), task.getValue());
      }
      assertThat(heap()).isLessThan(HEAP_MAX);
    }
  }

  private static void awaitEnd(BlockLog log, ContextId context) throws InterruptedException {
    var deadline = System.nanoTime() + PATIENCE.toNanos();
    for (var head = log.head(context);
        !log.<Boolean>inspect(context, state -> state.openTasks().isEmpty());
        head = log.head(context)) {
      log.await(context, head, Duration.ofSeconds(1));
      assertThat(System.nanoTime()).as("%s hangs", context).isLessThan(deadline);
    }
  }

  private static void check(BlockLog log, ContextId context, TaskId task) {
    LogInvariants.check(log, context);
    var entries = LogInvariants.read(log, context);
    assertThat(entries.stream().filter(e -> e.event() instanceof TaskCreated)).hasSize(4);
    var number = context.value().replace("context-", "");
    assertThat(
            entries.stream()
                .filter(e -> task.equals(e.taskId()))
                .map(Entry::event)
                .filter(TaskComplete.class::isInstance)
                .map(e -> ((TaskComplete) e).content()))
        .singleElement()
        .asString()
        .contains("{\\\"n\\\":" + number + "}")
        .contains("\"deep " + number + "\"");
  }

  /// The used heap after a garbage collection.
  private static long heap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
