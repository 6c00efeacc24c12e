package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.Prompt;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.task.LogInvariants;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import dev.parley.tool.ToolResult;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/// Agents that do not stop by themselves, and the limits that stop them. None of them fills the
/// log.
@Timeout(120)
class RunawayTest {

  private static final int LOG_BYTES_MAX = 16 << 20;

  @TempDir Path folder;

  private interface Answers {
    ModelReply to(Prompt prompt, ModelSink modelSink) throws InterruptedException;
  }

  private record Runaway(Answers answers) implements Model {
    @Override
    public String name() {
      return "runaway";
    }

    @Override
    public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
      return answers.to(prompt, modelSink);
    }
  }

  private static ModelReply calling(String tool, ObjectNode arguments) {
    return answered(List.of(call(tool, arguments)));
  }

  private static ToolCall call(String tool, ObjectNode arguments) {
    return new ToolCall(new ToolCallId(UUID.randomUUID().toString()), tool, arguments);
  }

  private static ModelReply answered(List<ToolCall> calls) {
    var usage = new Usage("runaway", 10, 5, null, null, null);
    return new ModelReply.ModelAnswer(FinishReason.TOOL_CALLS, calls, usage, null);
  }

  @Test
  void a_model_that_calls_tools_for_ever_is_stopped_after_so_many_turns() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    try (var taskTestBed = world((_, _) -> calling("echo", Json.object()), echo)) {
      var task = fails(taskTestBed, ErrorCode.LIMIT, "50 turns");

      assertThat(echo.called()).hasSize(50);
      assertThat(taskTestBed.events(task, ToolComplete.class)).hasSize(50);
    }
  }

  @Test
  void a_model_that_spends_tokens_without_end_is_stopped() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    var usage = new Usage("runaway", 500_000, 5, null, null, null);
    try (var taskTestBed =
        world(
            (_, _) ->
                new ModelReply.ModelAnswer(
                    FinishReason.TOOL_CALLS, List.of(call("echo", Json.object())), usage, null),
            echo)) {
      fails(taskTestBed, ErrorCode.LIMIT, "tokens");

      assertThat(echo.called()).hasSize(4);
    }
  }

  @Test
  void agents_that_spawn_for_ever_are_stopped_by_depth_and_number() throws Exception {
    try (var taskTestBed =
        world((_, _) -> calling("agent_a", Json.object().put("prompt", "go on")))) {
      fails(taskTestBed, ErrorCode.TOOL_FAILED, "no tool worked 3 turns in a row");

      assertThat(tasks(taskTestBed))
          .isLessThanOrEqualTo(1 + TaskLimits.DEFAULT.tree().maxSubtasks());
      assertThat(taskTestBed.entries().stream().map(Entry::event))
          .anyMatch(
              e ->
                  e instanceof ToolComplete c
                      && ("" + c.error()).contains("at most 5 levels deep"));
    }
  }

  @Test
  void agents_that_spawn_batches_for_ever_are_stopped() throws Exception {
    var tasks = Json.object().put("mode", "parallel");
    var list = tasks.putArray("tasks");
    for (var i = 0; i < TaskLimits.DEFAULT.tree().maxFanOut(); i++) {
      list.addObject().put("agentId", "a").put("prompt", "go on");
    }
    try (var taskTestBed = world((_, _) -> calling("subagents", tasks))) {
      fails(taskTestBed, ErrorCode.TOOL_FAILED, "no tool worked 3 turns in a row");

      assertThat(tasks(taskTestBed))
          .isLessThanOrEqualTo(1 + TaskLimits.DEFAULT.tree().maxSubtasks());
      assertThat(taskTestBed.entries().stream().map(Entry::event))
          .anyMatch(e -> e instanceof ToolComplete c && ("" + c.error()).contains("at most 200"));
    }
  }

  @Test
  void a_chain_that_comes_to_the_limit_in_the_middle_fails_and_its_agent_goes_on()
      throws Exception {
    var d = TaskLimits.DEFAULT;
    var few =
        new TaskLimits(
            d.taskTimeout(),
            d.maxConcurrentTasks(),
            d.maxQueuedPerContext(),
            d.maxQueuedContexts(),
            d.maxContentLength(),
            d.stopGrace(),
            d.inputTimeout(),
            d.whenInputLapses(),
            d.loop(),
            new TaskLimits.TreeLimits(3, 3, 2));
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, few, ToolPolicy.DEFAULT)) {
      var task =
          taskTestBed.submit(SubagentsTest.batch(Mode.SERIAL, "one", "two", "three")).taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).contains("at most 2 sub-agents in all");
    }
  }

  @Test
  void a_model_that_talks_without_end_is_cut_off() throws Exception {
    try (var taskTestBed =
        world(
            (_, modelSink) -> {
              while (true) {
                modelSink.text("blah ".repeat(1_000));
              }
            })) {
      var task = fails(taskTestBed, ErrorCode.LIMIT, "characters in one turn");

      assertThat(taskTestBed.answer(task).content()).hasSize(ModelOutputWriter.REPLY_MAX);
      assertThat(taskTestBed.answer(task).metadata().path("partial").asBoolean()).isTrue();
    }
  }

  @Test
  void a_model_that_says_too_much_at_once_is_cut_off() throws Exception {
    try (var taskTestBed =
        world(
            (_, modelSink) -> {
              modelSink.text("x".repeat(20_000_000));
              return answered(List.of());
            })) {
      fails(taskTestBed, ErrorCode.LIMIT, "characters in one turn");
    }
  }

  @Test
  void a_model_that_thinks_without_end_is_cut_off() throws Exception {
    try (var taskTestBed =
        world(
            (_, modelSink) -> {
              while (true) {
                modelSink.thinking("hm ".repeat(1_000));
              }
            })) {
      fails(taskTestBed, ErrorCode.LIMIT, "characters in one turn");
    }
  }

  @Test
  void thousands_of_calls_in_one_turn_are_refused_and_none_is_made() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    try (var taskTestBed =
        world(
            (_, _) ->
                answered(
                    IntStream.range(0, 5_000).mapToObj(_ -> call("echo", Json.object())).toList()),
            echo)) {
      fails(taskTestBed, ErrorCode.LIMIT, "5000 tool calls in one turn");

      assertThat(echo.called()).isEmpty();
    }
  }

  @Test
  void as_many_calls_as_are_allowed_are_made() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    var all = IntStream.range(0, ModelLoop.CALLS_MAX).mapToObj(_ -> "!echo").toList();
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, echo)) {
      var task = taskTestBed.submit(String.join("\n", all)).taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(echo.called()).hasSize(ModelLoop.CALLS_MAX);
    }
  }

  @Test
  void arguments_of_ten_megabytes_are_refused() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    var huge = Json.object().put("text", "x".repeat(10_000_000));
    try (var taskTestBed = world((_, _) -> calling("echo", huge), echo)) {
      fails(taskTestBed, ErrorCode.LIMIT, "bytes of arguments");

      assertThat(echo.called()).isEmpty();
    }
  }

  @Test
  void huge_results_and_huge_errors_are_cut() throws Exception {
    var flood = "x".repeat(10_000_000);
    var done = tool("done", (_, _) -> TestTool.done(flood));
    var failed = tool("failed", (_, _) -> new ToolResult.Failed(flood));
    var broken =
        tool(
            "broken",
            (_, _) -> {
              throw new dev.parley.protocol.Rejection.Invalid(flood);
            });
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, done, failed, broken)) {
      var task = taskTestBed.submit("!done\n!failed\n!broken").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).contains("[truncated: the result has 100000");
      assertBounded(taskTestBed, 1 << 20);
    }
  }

  @Test
  void a_tool_that_tells_its_progress_without_end_is_heard_so_often() throws Exception {
    var chatty =
        tool(
            "chatty",
            (_, context) -> {
              for (var i = 0; i < 100_000; i++) {
                context.progress(0.5, "still here");
              }
              return TestTool.done("done");
            });
    try (var taskTestBed = TestTeam.world(TaskTestBed.newLog(), folder, chatty)) {
      var task = taskTestBed.submit("!chatty").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.events(task, ToolProgress.class))
          .hasSize(ToolCallContext.PROGRESS_MAX);
    }
  }

  @Test
  void a_model_that_repeats_a_call_that_fails_is_stopped() throws Exception {
    var failing = tool("failing", (_, _) -> new ToolResult.Failed("no"));
    try (var taskTestBed = world((_, _) -> calling("failing", Json.object()), failing)) {
      fails(taskTestBed, ErrorCode.TOOL_FAILED, "no tool worked 3 turns in a row");

      assertThat(failing.called()).hasSize(3);
    }
  }

  @Test
  void a_model_that_calls_what_does_not_exist_is_stopped() throws Exception {
    try (var taskTestBed = world((_, _) -> calling("nothing", Json.object()))) {
      fails(taskTestBed, ErrorCode.TOOL_FAILED, "no tool worked 3 turns in a row");
    }
  }

  private static TestTool tool(String name, TestTool.TestToolBody testToolBody) {
    return TestTool.of(name, Effect.PURE, Permission.ALLOW, testToolBody);
  }

  private TaskTestBed world(Answers answers, Tool... tools) {
    var log = TaskTestBed.newLog();
    var taskLimits = TaskLimits.DEFAULT;
    var agents = TestTeam.agents(log, new Runaway(answers), taskLimits, ToolPolicy.DEFAULT, tools);
    return TaskTestBed.with(log, agents, folder, taskLimits);
  }

  private static TaskId fails(TaskTestBed taskTestBed, ErrorCode code, String why)
      throws InterruptedException {
    var task = taskTestBed.submit("go").taskId();
    assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
    var error = taskTestBed.events(task, ErrorReported.class).getFirst();
    assertThat(error.code()).isEqualTo(code);
    assertThat(error.message()).contains(why);
    assertThat(error.retryable()).isFalse();
    LogInvariants.check(taskTestBed.log(), TaskTestBed.CONTEXT);
    assertBounded(taskTestBed, LOG_BYTES_MAX);
    return task;
  }

  private static void assertBounded(TaskTestBed taskTestBed, int bytesMax) {
    assertThat(taskTestBed.entries().stream().mapToLong(e -> Json.bytes(e.event()).length).sum())
        .isLessThan(bytesMax);
  }

  private static long tasks(TaskTestBed taskTestBed) {
    return taskTestBed.entries().stream().filter(e -> e.event() instanceof TaskCreated).count();
  }
}
