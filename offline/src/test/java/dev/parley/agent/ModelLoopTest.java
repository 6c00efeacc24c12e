package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalThoughtProcess;
import dev.parley.protocol.ThoughtEvent.Stage;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.task.WhenBusy;
import dev.parley.tool.ReadFileTool;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import dev.parley.tool.TypedTool;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.StringNode;

@Timeout(60)
class ModelLoopTest {

  private interface Turn {
    ModelReply play(Prompt prompt, ModelSink modelSink) throws InterruptedException;
  }

  /// A model that plays one turn after the other and records its prompts.
  private static final class ScriptedModel implements Model {
    final List<Prompt> asked = new CopyOnWriteArrayList<>();
    private final List<Turn> turns;

    ScriptedModel(Turn... turns) {
      this.turns = List.of(turns);
    }

    @Override
    public String name() {
      return "scripted";
    }

    @Override
    public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
      asked.add(prompt);
      return turns.get(Math.min(asked.size(), turns.size()) - 1).play(prompt, modelSink);
    }
  }

  private record NoArguments() {}

  private interface Body {
    ToolResult run(ToolContext context) throws InterruptedException;
  }

  private record ScriptedTool(String name, boolean concurrent, Body body)
      implements TypedTool<NoArguments> {
    @Override
    public String description() {
      return "a tool for tests";
    }

    @Override
    public Class<NoArguments> arguments() {
      return NoArguments.class;
    }

    @Override
    public Effect effect() {
      return Effect.PURE;
    }

    @Override
    public ToolResult call(NoArguments arguments, ToolContext context) throws InterruptedException {
      return body.run(context);
    }
  }

  @TempDir Path folder;

  @Test
  void the_prompt_holds_earlier_turns_in_order_and_the_question_once() throws Exception {
    var model = new ScriptedModel(ModelLoopTest::answer);
    try (var taskTestBed = TestAssistant.world(model, List.of(), folder)) {
      taskTestBed.awaitEnd(taskTestBed.submit("first").taskId());
      taskTestBed.awaitEnd(taskTestBed.submit("second").taskId());

      assertThat(model.asked.getLast().parts())
          .extracting(promptPart -> ((PromptPart.PromptMessage) promptPart).text())
          .containsExactly("first", "ok", "second");
    }
  }

  @Test
  void a_task_does_not_hear_what_waits_behind_it() throws Exception {
    var go = new CountDownLatch(1);
    var model =
        new ScriptedModel(
            (prompt, modelSink) -> {
              go.await();
              return answer(prompt, modelSink);
            });
    try (var taskTestBed = TestAssistant.world(model, List.of(), folder)) {
      var first = taskTestBed.submit("first").taskId();
      taskTestBed.awaitKind(first, Kind.INTERNAL_LLM_CALL);
      var second = taskTestBed.submit("second").taskId();
      var third = taskTestBed.submit("third").taskId();
      go.countDown();
      taskTestBed.awaitEnd(second);
      taskTestBed.awaitEnd(third);

      assertThat(model.asked.get(1).parts())
          .extracting(promptPart -> ((PromptPart.PromptMessage) promptPart).text())
          .containsExactly("first", "ok", "second");
      assertThat(model.asked.get(2).parts())
          .extracting(promptPart -> ((PromptPart.PromptMessage) promptPart).text())
          .containsExactly("first", "ok", "second", "ok", "third");
    }
  }

  @Test
  void concurrent_tools_run_side_by_side() throws Exception {
    var barrier = new CyclicBarrier(3);
    var meet =
        new ScriptedTool(
            "meet",
            true,
            _ -> {
              try {
                barrier.await();
                return done("met");
              } catch (BrokenBarrierException broken) {
                return new ToolResult.Failed("alone");
              }
            });
    var model = new ScriptedModel(calls("meet", "meet", "meet"), ModelLoopTest::answer);
    try (var taskTestBed = TestAssistant.world(model, List.of(meet), folder)) {
      var task = taskTestBed.submit("go").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.events(task, ToolComplete.class))
          .hasSize(3)
          .allMatch(ToolComplete::success);
    }
  }

  // EVENT-50, EVENT-51
  @Test
  void the_loop_reports_each_stage_and_the_related_call_of_a_thought() throws Exception {
    var tool = new ScriptedTool("look", true, _ -> done("ok"));
    var model =
        new ScriptedModel(
            (prompt, modelSink) -> {
              modelSink.thinking("first look");
              return calls("look").play(prompt, modelSink);
            },
            (prompt, modelSink) -> {
              modelSink.thinking("it is ok");
              return answer(prompt, modelSink);
            });
    try (var taskTestBed = TestAssistant.world(model, List.of(tool), folder)) {
      var task = taskTestBed.submit("go").taskId();
      taskTestBed.awaitEnd(task);

      assertThat(taskTestBed.events(task, InternalThoughtProcess.class))
          .extracting(InternalThoughtProcess::stage, InternalThoughtProcess::iteration)
          .containsExactly(
              // Before the first model call there is nothing to report.
              tuple(Stage.POST_LLM, 1),
              tuple(Stage.PRE_TOOL, 1),
              tuple(Stage.POST_TOOL, 1),
              tuple(Stage.PRE_LLM, 2),
              tuple(Stage.POST_LLM, 2));
      var call = taskTestBed.events(task, ToolComplete.class).getFirst().toolCallId();
      assertThat(taskTestBed.events(task, ThoughtStream.class))
          .extracting(thought -> thought.metadata().path("relatedTo").asString(""))
          .containsExactly("", call.value());
    }
  }

  @Test
  void other_tools_run_one_after_the_other() throws Exception {
    var tool = new ScriptedTool("alone", false, _ -> done("ok"));
    var model = new ScriptedModel(calls("alone", "alone"), ModelLoopTest::answer);
    try (var taskTestBed = TestAssistant.world(model, List.of(tool), folder)) {
      var task = taskTestBed.submit("go").taskId();
      taskTestBed.awaitEnd(task);

      assertThat(taskTestBed.kinds(task))
          .containsSubsequence(
              Kind.TOOL_START, Kind.TOOL_COMPLETE, Kind.TOOL_START, Kind.TOOL_COMPLETE);
    }
  }

  @Test
  void a_canceled_call_is_told_to_the_model_and_the_task_goes_on() throws Exception {
    var running = new CountDownLatch(1);
    var tool =
        new ScriptedTool(
            "slow",
            true,
            _ -> {
              running.countDown();
              new CountDownLatch(1).await();
              return done("never");
            });
    var model = new ScriptedModel(calls("slow"), ModelLoopTest::answer);
    try (var taskTestBed = TestAssistant.world(model, List.of(tool), folder)) {
      var task = taskTestBed.submit("go").taskId();
      running.await();
      var call = taskTestBed.events(task, ToolStart.class).getFirst().toolCallId();
      taskTestBed.tasks().cancelTool(TaskTestBed.CONTEXT, task, call, "ada");

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.events(task, ToolComplete.class)).hasSize(1);
      var told = (PromptPart.PromptToolResult) model.asked.getLast().parts().getLast();
      assertThat(told.success()).isFalse();
      assertThat(told.result().asString()).isEqualTo("canceled");
    }
  }

  @Test
  void an_unknown_tool_wrong_arguments_and_a_broken_tool_are_told_to_the_model() throws Exception {
    var broken =
        new ScriptedTool(
            "broken",
            true,
            _ -> {
              throw new IllegalStateException("on purpose");
            });
    var model = new ScriptedModel(calls("broken", "unknown", "read_file"), ModelLoopTest::answer);
    try (var taskTestBed =
        TestAssistant.world(model, List.of(broken, new ReadFileTool()), folder)) {
      var task = taskTestBed.submit("go").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.events(task, ToolComplete.class))
          .extracting(ToolComplete::error)
          .anyMatch("the tool failed unexpectedly"::equals)
          .anyMatch("there is no tool called unknown"::equals)
          .anyMatch(error -> error.contains("path"))
          .hasSize(3);
    }
  }

  @Test
  void three_turns_in_which_no_tool_works_are_enough() throws Exception {
    var model = new ScriptedModel(calls("unknown"));
    try (var taskTestBed = TestAssistant.world(model, List.of(), folder)) {
      var task = taskTestBed.submit("go").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(taskTestBed.events(task, ErrorReported.class).getFirst().code())
          .isEqualTo(ErrorCode.TOOL_FAILED);
      assertThat(model.asked).hasSize(3);
      assertThat(taskTestBed.events(task, ToolStart.class))
          .extracting(ToolStart::toolCallId)
          .doesNotHaveDuplicates();
    }
  }

  @Test
  void a_result_that_is_too_large_is_cut_and_says_so() throws Exception {
    var tool = new ScriptedTool("large", true, _ -> done("x".repeat(100_000)));
    var model = new ScriptedModel(calls("large"), ModelLoopTest::answer);
    try (var taskTestBed = TestAssistant.world(model, List.of(tool), folder)) {
      var task = taskTestBed.submit("go").taskId();
      taskTestBed.awaitEnd(task);

      var result = taskTestBed.events(task, ToolComplete.class).getFirst().result().asString();
      assertThat(result).hasSizeLessThan(65_536).contains("truncated: the result has 100002 bytes");
    }
  }

  @Test
  void progress_never_falls_and_is_refused_after_the_end_of_the_call() throws Exception {
    var tool =
        new ScriptedTool(
            "steps",
            true,
            context -> {
              context.progress(0.5, "half");
              context.progress(0.2, "back");
              context.progress(1, "done");
              context.progress(7, "nonsense");
              return done("ok");
            });
    var model = new ScriptedModel(calls("steps"), ModelLoopTest::answer);
    try (var taskTestBed = TestAssistant.world(model, List.of(tool), folder)) {
      var task = taskTestBed.submit("go").taskId();
      taskTestBed.awaitEnd(task);

      assertThat(taskTestBed.events(task, ToolProgress.class))
          .extracting(ToolProgress::progress)
          .containsExactly(0.5, 1.0);
    }
  }

  @Test
  void what_steers_a_task_is_put_to_the_model_before_its_next_turn() throws Exception {
    var asked = new CountDownLatch(1);
    var go = new CountDownLatch(1);
    var model =
        new ScriptedModel(
            (prompt, modelSink) -> {
              asked.countDown();
              go.await();
              return answer(prompt, modelSink);
            });
    try (var taskTestBed = TestAssistant.world(model, List.of(), folder)) {
      var task = taskTestBed.submit("go north").taskId();
      asked.await();
      taskTestBed.submit("no, south", WhenBusy.STEER);
      go.countDown();
      taskTestBed.awaitEnd(task);

      assertThat(model.asked).hasSize(2);
      assertThat(model.asked.getLast().parts())
          .extracting(promptPart -> ((PromptPart.PromptMessage) promptPart).text())
          .containsExactly("go north", "ok", "no, south");
      assertThat(taskTestBed.answer(task).content()).isEqualTo("ok\n\nok");
    }
  }

  @Test
  void tokens_from_a_cache_count_towards_the_limit_of_a_task() throws Exception {
    var cached = new Usage("scripted", 1, 1, 0L, TaskLimits.DEFAULT.loop().maxTokens(), null);
    var model =
        new ScriptedModel(
            (_, _) ->
                new ModelReply.ModelAnswer(
                    FinishReason.TOOL_CALLS,
                    List.of(new ToolCall(new ToolCallId("c"), "read_file", Json.object())),
                    cached,
                    null),
            ModelLoopTest::answer);
    try (var taskTestBed = TestAssistant.world(model, List.of(new ReadFileTool()), folder)) {
      var task = taskTestBed.submit("go").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      var error = taskTestBed.events(task, ErrorReported.class).getLast();
      assertThat(error.code()).isEqualTo(ErrorCode.LIMIT);
      assertThat(error.message()).contains("2000002 tokens");
      assertThat(model.asked).hasSize(1);
    }
  }

  private static Turn calls(String... tools) {
    return (_, _) ->
        new ModelReply.ModelAnswer(
            FinishReason.TOOL_CALLS,
            IntStream.range(0, tools.length)
                .mapToObj(i -> new ToolCall(new ToolCallId("call" + i), tools[i], Json.object()))
                .toList(),
            usage(),
            null);
  }

  private static ModelReply answer(Prompt prompt, ModelSink modelSink) throws InterruptedException {
    modelSink.text("ok");
    return new ModelReply.ModelAnswer(FinishReason.STOP, List.of(), usage(), null);
  }

  private static Usage usage() {
    return new Usage("scripted", 1, 1, null, null, null);
  }

  private static ToolResult done(String text) {
    return new ToolResult.Done(StringNode.valueOf(text));
  }
}
