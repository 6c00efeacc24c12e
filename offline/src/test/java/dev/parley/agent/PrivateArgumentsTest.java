package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventLog;
import dev.parley.log.LimitedAppendLog;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Answerer;
import dev.parley.task.LogInvariants;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.ThinkTool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;

/// The arguments of a tool call that only readers of internal events may see.
@Timeout(60)
class PrivateArgumentsTest {

  private static final String SECRET = "Hidden plan";

  @TempDir Path folder;

  /// A model that calls `think` once, and then answers. It records its prompts.
  private record ThinkingModel(String visibility, List<Prompt> asked) implements Model {

    ThinkingModel(String visibility) {
      this(visibility, new CopyOnWriteArrayList<>());
    }

    ObjectNode arguments() {
      return Json.object().put("thought", SECRET).put("visibility", visibility);
    }

    @Override
    public String name() {
      return "thinking";
    }

    @Override
    public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
      asked.add(prompt);
      var usage = new Usage(name(), 1, 1, null, null, null);
      if (prompt.parts().getLast() instanceof PromptPart.PromptToolResult) {
        modelSink.text("done");
        return new ModelReply.ModelAnswer(FinishReason.STOP, List.of(), usage, null);
      }
      var call = new ToolCall(new ToolCallId("t1"), "think", arguments());
      return new ModelReply.ModelAnswer(FinishReason.TOOL_CALLS, List.of(call), usage, null);
    }

    /// The arguments of the call that the last prompt shows the model.
    ObjectNode remembered() {
      return asked.getLast().parts().stream()
          .filter(PromptPart.PromptToolCalls.class::isInstance)
          .map(part -> ((PromptPart.PromptToolCalls) part).calls().getFirst().arguments())
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void the_thought_of_an_internal_call_is_in_no_public_event() throws Exception {
    var model = new ThinkingModel("internal");
    try (var taskTestBed = world(TaskTestBed.newLog(), model, ToolPolicy.DEFAULT)) {
      var task = taskTestBed.submit("go").taskId();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertHidden(taskTestBed);
      var shown = Json.object().put("visibility", "internal");
      assertThat(taskTestBed.events(task, ContentComplete.class).getFirst().toolCalls())
          .extracting(ToolCall::arguments)
          .containsExactly(shown);
      var start = taskTestBed.events(task, ToolStart.class).getFirst();
      assertThat(start.arguments()).isEqualTo(shown);
      assertThat(start.metadata().has("edited")).isFalse();
    }
  }

  @Test
  void the_model_still_sees_its_own_call_and_the_thought_is_recorded() throws Exception {
    var model = new ThinkingModel("internal");
    try (var taskTestBed = world(TaskTestBed.newLog(), model, ToolPolicy.DEFAULT)) {
      var task = taskTestBed.submit("go").taskId();
      taskTestBed.awaitEnd(task);

      // The order of the fields matters to the caches of providers.
      assertThat(model.remembered().toString()).isEqualTo(model.arguments().toString());
      assertRecorded(taskTestBed, task);
    }
  }

  @Test
  void other_thoughts_are_shown() throws Exception {
    var model = new ThinkingModel("user");
    try (var taskTestBed = world(TaskTestBed.newLog(), model, ToolPolicy.DEFAULT)) {
      var task = taskTestBed.submit("go").taskId();
      taskTestBed.awaitEnd(task);

      assertThat(taskTestBed.events(task, ToolStart.class).getFirst().arguments())
          .isEqualTo(model.arguments());
    }
  }

  @Test
  void nothing_is_lost_or_shown_whichever_append_is_the_last_before_a_crash() throws Exception {
    for (var appends = 1; ; appends++) {
      var log = TaskTestBed.newLog();
      var freezing = new LimitedAppendLog(log, appends, () -> new Rejection.Gone("frozen"));
      try (var before = world(freezing, new ThinkingModel("internal"), ToolPolicy.DEFAULT)) {
        var task = submit(before);
        if (task != null && !endsBeforeFreeze(before, freezing, task)) {
          before.tasks().drain(Duration.ZERO);
        } else if (task != null) {
          assertThat(appends).isGreaterThan(5);
          return;
        }
      }
      var model = new ThinkingModel("internal");
      try (var after = world(log, model, ToolPolicy.DEFAULT)) {
        after.tasks().recover();
        for (var task : tasks(after)) {
          assertThat(after.awaitEnd(task)).as("after %d", appends).isEqualTo(TaskState.COMPLETED);
          assertHidden(after);
          assertRecorded(after, task);
          if (!model.asked().isEmpty()) {
            assertThat(model.remembered()).isEqualTo(model.arguments());
          }
        }
        LogInvariants.check(log, TaskTestBed.CONTEXT);
      }
    }
  }

  @Test
  void the_person_who_approves_the_call_does_not_see_the_thought_either() throws Exception {
    var asking = new ToolPolicy(null, List.of(), List.of("think"), List.of());
    try (var taskTestBed = world(TaskTestBed.newLog(), new ThinkingModel("internal"), asking)) {
      var task = taskTestBed.submit("go").taskId();
      var asked =
          (InputRequired) taskTestBed.await(e -> e.event() instanceof InputRequired).event();
      taskTestBed
          .tasks()
          .answer(
              TaskTestBed.CONTEXT,
              asked.inputId(),
              BooleanNode.TRUE,
              Answerer.trusted("local"),
              AppendGuard.none());

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertHidden(taskTestBed);
      assertRecorded(taskTestBed, task);
    }
  }

  private TaskTestBed world(EventLog log, Model model, ToolPolicy toolPolicy) {
    var loop =
        TestAssistant.loop(
            log,
            TaskTestBed.AGENT,
            model,
            List.of(new ThinkTool()),
            toolPolicy,
            TaskLimits.DEFAULT);
    return TaskTestBed.with(log, loop, folder, TaskTestBed.limits(10, 10, Duration.ofSeconds(20)));
  }

  private static TaskId submit(TaskTestBed taskTestBed) {
    try {
      return taskTestBed.submit("go").taskId();
    } catch (Rejection.Gone frozen) {
      return null;
    }
  }

  private static boolean endsBeforeFreeze(
      TaskTestBed taskTestBed, LimitedAppendLog log, TaskId task) throws InterruptedException {
    while (!log.exhausted()) {
      if (taskTestBed.events(task).stream()
          .anyMatch(dev.parley.protocol.TaskEvent.TaskComplete.class::isInstance)) {
        return true;
      }
      taskTestBed
          .log()
          .await(
              TaskTestBed.CONTEXT,
              taskTestBed.log().head(TaskTestBed.CONTEXT),
              Duration.ofMillis(20));
    }
    return false;
  }

  private static List<TaskId> tasks(TaskTestBed taskTestBed) {
    return taskTestBed.entries().stream()
        .map(Entry::taskId)
        .filter(task -> task != null)
        .distinct()
        .toList();
  }

  private static void assertHidden(TaskTestBed taskTestBed) {
    assertThat(taskTestBed.entries())
        .filteredOn(entry -> !entry.event().internal())
        .isNotEmpty()
        .noneMatch(entry -> entry.event().toString().contains(SECRET));
  }

  /// The call has succeeded, and the thought is an internal event.
  private static void assertRecorded(TaskTestBed taskTestBed, TaskId task) {
    assertThat(taskTestBed.events(task, ToolComplete.class))
        .singleElement()
        .matches(ToolComplete::success);
    assertThat(taskTestBed.events(task, ThoughtStream.class))
        .isNotEmpty()
        .allMatch(thought -> thought.internal() && thought.content().equals(SECRET));
  }
}
