package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Model;
import dev.parley.model.Prompt;
import dev.parley.model.Reply;
import dev.parley.model.Sink;
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
import dev.parley.task.Limits;
import dev.parley.task.Sound;
import dev.parley.task.World;
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
    Reply to(Prompt prompt, Sink sink) throws InterruptedException;
  }

  private record Runaway(Answers answers) implements Model {
    @Override
    public String name() {
      return "runaway";
    }

    @Override
    public Reply ask(Prompt prompt, Sink sink) throws InterruptedException {
      return answers.to(prompt, sink);
    }
  }

  private static Reply calling(String tool, ObjectNode arguments) {
    return answered(List.of(call(tool, arguments)));
  }

  private static ToolCall call(String tool, ObjectNode arguments) {
    return new ToolCall(new ToolCallId(UUID.randomUUID().toString()), tool, arguments);
  }

  private static Reply answered(List<ToolCall> calls) {
    var usage = new Usage("runaway", 10, 5, null, null, null);
    return new Reply.Answered(FinishReason.TOOL_CALLS, calls, usage, null);
  }

  @Test
  void a_model_that_calls_tools_for_ever_is_stopped_after_so_many_turns() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    try (var world = world((_, _) -> calling("echo", Json.object()), echo)) {
      var task = fails(world, ErrorCode.LIMIT, "50 turns");

      assertThat(echo.called()).hasSize(50);
      assertThat(world.events(task, ToolComplete.class)).hasSize(50);
    }
  }

  @Test
  void a_model_that_spends_tokens_without_end_is_stopped() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    var usage = new Usage("runaway", 500_000, 5, null, null, null);
    try (var world =
        world(
            (_, _) ->
                new Reply.Answered(
                    FinishReason.TOOL_CALLS, List.of(call("echo", Json.object())), usage, null),
            echo)) {
      fails(world, ErrorCode.LIMIT, "tokens");

      assertThat(echo.called()).hasSize(4);
    }
  }

  @Test
  void agents_that_spawn_for_ever_are_stopped_by_depth_and_number() throws Exception {
    try (var world = world((_, _) -> calling("agent_a", Json.object().put("prompt", "go on")))) {
      fails(world, ErrorCode.TOOL_FAILED, "no tool worked 3 turns in a row");

      assertThat(tasks(world)).isLessThanOrEqualTo(1 + Limits.DEFAULT.tree().maxSubtasks());
      assertThat(world.entries().stream().map(Entry::event))
          .anyMatch(
              e -> e instanceof ToolComplete c && ("" + c.error()).contains("at most 5 deep"));
    }
  }

  @Test
  void agents_that_spawn_batches_for_ever_are_stopped() throws Exception {
    var tasks = Json.object().put("mode", "parallel");
    var list = tasks.putArray("tasks");
    for (var i = 0; i < Limits.DEFAULT.tree().maxFanOut(); i++) {
      list.addObject().put("agentId", "a").put("prompt", "go on");
    }
    try (var world = world((_, _) -> calling("subagents", tasks))) {
      fails(world, ErrorCode.TOOL_FAILED, "no tool worked 3 turns in a row");

      assertThat(tasks(world)).isLessThanOrEqualTo(1 + Limits.DEFAULT.tree().maxSubtasks());
      assertThat(world.entries().stream().map(Entry::event))
          .anyMatch(e -> e instanceof ToolComplete c && ("" + c.error()).contains("at most 200"));
    }
  }

  @Test
  void a_chain_that_comes_to_the_limit_in_the_middle_fails_and_its_agent_goes_on()
      throws Exception {
    var d = Limits.DEFAULT;
    var few =
        new Limits(
            d.taskTimeout(),
            d.maxConcurrentTasks(),
            d.maxQueuedPerContext(),
            d.maxQueuedContexts(),
            d.maxContentLength(),
            d.stopGrace(),
            d.inputTimeout(),
            d.whenInputLapses(),
            d.loop(),
            new Limits.Tree(3, 3, 2));
    try (var world = Team.world(World.newLog(), folder, few, Policy.USUAL)) {
      var task = world.say(SubagentsTest.batch(Mode.SERIAL, "one", "two", "three")).taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(task).content()).contains("at most 2 sub-agents in all");
    }
  }

  @Test
  void a_model_that_talks_without_end_is_cut_off() throws Exception {
    try (var world =
        world(
            (_, sink) -> {
              while (true) {
                sink.text("blah ".repeat(1_000));
              }
            })) {
      var task = fails(world, ErrorCode.LIMIT, "characters in one turn");

      assertThat(world.answer(task).content()).hasSize(Scribe.REPLY_MAX);
      assertThat(world.answer(task).metadata().path("partial").asBoolean()).isTrue();
    }
  }

  @Test
  void a_model_that_says_too_much_at_once_is_cut_off() throws Exception {
    try (var world =
        world(
            (_, sink) -> {
              sink.text("x".repeat(20_000_000));
              return answered(List.of());
            })) {
      fails(world, ErrorCode.LIMIT, "characters in one turn");
    }
  }

  @Test
  void a_model_that_thinks_without_end_is_cut_off() throws Exception {
    try (var world =
        world(
            (_, sink) -> {
              while (true) {
                sink.thinking("hm ".repeat(1_000));
              }
            })) {
      fails(world, ErrorCode.LIMIT, "characters in one turn");
    }
  }

  @Test
  void thousands_of_calls_in_one_turn_are_refused_and_none_is_made() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    try (var world =
        world(
            (_, _) ->
                answered(
                    IntStream.range(0, 5_000).mapToObj(_ -> call("echo", Json.object())).toList()),
            echo)) {
      fails(world, ErrorCode.LIMIT, "5000 tool calls in one turn");

      assertThat(echo.called()).isEmpty();
    }
  }

  @Test
  void as_many_calls_as_are_allowed_are_made() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    var all = IntStream.range(0, ModelLoop.CALLS_MAX).mapToObj(_ -> "!echo").toList();
    try (var world = Team.world(World.newLog(), folder, echo)) {
      var task = world.say(String.join("\n", all)).taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(echo.called()).hasSize(ModelLoop.CALLS_MAX);
    }
  }

  @Test
  void arguments_of_ten_megabytes_are_refused() throws Exception {
    var echo = TestTool.echo("echo", Permission.ALLOW);
    var huge = Json.object().put("text", "x".repeat(10_000_000));
    try (var world = world((_, _) -> calling("echo", huge), echo)) {
      fails(world, ErrorCode.LIMIT, "bytes of arguments");

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
    try (var world = Team.world(World.newLog(), folder, done, failed, broken)) {
      var task = world.say("!done\n!failed\n!broken").taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.answer(task).content()).contains("[truncated: the result has 100000");
      assertBounded(world, 1 << 20);
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
    try (var world = Team.world(World.newLog(), folder, chatty)) {
      var task = world.say("!chatty").taskId();

      assertThat(world.end(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(world.events(task, ToolProgress.class)).hasSize(CallContext.PROGRESS_MAX);
    }
  }

  @Test
  void a_model_that_repeats_a_call_that_fails_is_stopped() throws Exception {
    var failing = tool("failing", (_, _) -> new ToolResult.Failed("no"));
    try (var world = world((_, _) -> calling("failing", Json.object()), failing)) {
      fails(world, ErrorCode.TOOL_FAILED, "no tool worked 3 turns in a row");

      assertThat(failing.called()).hasSize(3);
    }
  }

  @Test
  void a_model_that_calls_what_does_not_exist_is_stopped() throws Exception {
    try (var world = world((_, _) -> calling("nothing", Json.object()))) {
      fails(world, ErrorCode.TOOL_FAILED, "no tool worked 3 turns in a row");
    }
  }

  private static TestTool tool(String name, TestTool.Body body) {
    return TestTool.of(name, Effect.PURE, Permission.ALLOW, body);
  }

  private World world(Answers answers, Tool... tools) {
    var log = World.newLog();
    var limits = Limits.DEFAULT;
    var agents = Team.agents(log, new Runaway(answers), limits, Policy.USUAL, tools);
    return World.with(log, agents, folder, limits);
  }

  private static TaskId fails(World world, ErrorCode code, String why) throws InterruptedException {
    var task = world.say("go").taskId();
    assertThat(world.end(task)).isEqualTo(TaskState.FAILED);
    var error = world.events(task, ErrorReported.class).getFirst();
    assertThat(error.code()).isEqualTo(code);
    assertThat(error.message()).contains(why);
    assertThat(error.retryable()).isFalse();
    Sound.check(world.log(), World.CONTEXT);
    assertBounded(world, LOG_BYTES_MAX);
    return task;
  }

  private static void assertBounded(World world, int bytesMax) {
    assertThat(world.entries().stream().mapToLong(e -> Json.bytes(e.event()).length).sum())
        .isLessThan(bytesMax);
  }

  private static long tasks(World world) {
    return world.entries().stream().filter(e -> e.event() instanceof TaskCreated).count();
  }
}
