package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolQuestion;
import dev.parley.tool.ToolResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

/// Calls during which the server stops repeatedly.
@Timeout(120)
class CutOffCallsTest {

  private final Semaphore started = new Semaphore(0);
  private final CountDownLatch never = new CountDownLatch(1);

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(names = {"PURE", "IDEMPOTENT", "ASK"})
  void a_call_is_started_three_times_and_not_again(Effect effect) throws Exception {
    var log = TaskTestBed.newLog();
    var hanging =
        TestTool.of(
            "hang",
            effect,
            Permission.ALLOW,
            (_, _) -> {
              started.release();
              never.await();
              return TestTool.done("never");
            });
    TaskId task;
    try (var taskTestBed = TestTeam.world(log, folder, hanging)) {
      task = taskTestBed.submit("!hang").taskId();
      started.acquire();
      taskTestBed.tasks().drain(Duration.ZERO);
    }
    for (var start = 2; start <= 3; start++) {
      try (var taskTestBed = TestTeam.world(log, folder, hanging)) {
        taskTestBed.tasks().recover();
        if (effect == Effect.ASK) {
          approve(taskTestBed, start - 1);
        }
        started.acquire();
        taskTestBed.tasks().drain(Duration.ZERO);
      }
    }
    try (var taskTestBed = TestTeam.world(log, folder, hanging)) {
      taskTestBed.tasks().recover();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).contains("the server stopped 3 times");
      assertThat(hanging.called()).hasSize(3);
      assertThat(taskTestBed.events(task, ToolComplete.class))
          .extracting(ToolComplete::outcome)
          .containsExactly(effect == Effect.ASK ? Outcome.OUTCOME_UNKNOWN : Outcome.INTERRUPTED);
    }
  }

  @Test
  void calls_that_came_back_to_ask_do_not_count() throws Exception {
    var log = TaskTestBed.newLog();
    var first = new AtomicBoolean(true);
    var asking =
        TestTool.of(
            "hang",
            Effect.PURE,
            Permission.ALLOW,
            (_, context) -> {
              if (context.answer().orElse(null) instanceof ToolAnswer.Given(var value)
                  && value.asString("").equals("3")) {
                if (first.getAndSet(false)) {
                  started.release();
                  never.await();
                }
                return TestTool.done("done");
              }
              return new ToolResult.NeedsAnswer(ToolQuestion.open("again?", true));
            });
    TaskId task;
    try (var taskTestBed = TestTeam.world(log, folder, asking)) {
      task = taskTestBed.submit("!hang").taskId();
      for (var i = 1; i <= 3; i++) {
        var asked = asked(taskTestBed, i);
        QuestionsTest.answer(taskTestBed, asked.inputId(), StringNode.valueOf("" + i));
      }
      started.acquire();
      taskTestBed.tasks().drain(Duration.ZERO);
    }
    try (var taskTestBed = TestTeam.world(log, folder, asking)) {
      taskTestBed.tasks().recover();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).contains("done");
    }
  }

  private static void approve(TaskTestBed taskTestBed, int number) throws InterruptedException {
    QuestionsTest.answer(taskTestBed, asked(taskTestBed, number).inputId(), BooleanNode.TRUE);
  }

  /// The question with this number.
  private static InputRequired asked(TaskTestBed taskTestBed, int number)
      throws InterruptedException {
    taskTestBed.await(
        entry ->
            entry.event() instanceof InputRequired
                && taskTestBed.entries().stream()
                        .filter(e -> e.event() instanceof InputRequired)
                        .count()
                    >= number);
    return taskTestBed.entries().stream()
        .map(entry -> entry.event())
        .filter(InputRequired.class::isInstance)
        .map(InputRequired.class::cast)
        .skip(number - 1L)
        .findFirst()
        .orElseThrow();
  }
}
