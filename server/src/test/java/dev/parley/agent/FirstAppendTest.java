package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.LimitedAppendLog;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.Prompt;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageFacts;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ToolCallId;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.runtime.Time;
import dev.parley.task.LogInvariants;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The first append of a new task of the model loop, which begins the task: the status, the model
/// call, and the output of a fast model.
@Timeout(120)
class FirstAppendTest {

  private static final CountDownLatch NEVER = new CountDownLatch(1);

  @TempDir Path folder;

  private interface Answers {
    ModelReply to(Prompt prompt, ModelSink modelSink) throws InterruptedException;
  }

  private interface Wait {
    void untilDone() throws InterruptedException;
  }

  private static Model model(Answers answers) {
    return new Model() {
      @Override
      public String name() {
        return "polite";
      }

      @Override
      public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
        return answers.to(prompt, modelSink);
      }
    };
  }

  /// A model that waits for something and then says `hello`.
  private static Model politeModel(Wait first) {
    return model(
        (_, modelSink) -> {
          first.untilDone();
          modelSink.text("hello");
          return answered(List.of());
        });
  }

  private static ModelReply answered(List<ToolCall> calls) {
    var usage = new Usage("polite", 10, 5, null, null, null);
    var reason = calls.isEmpty() ? FinishReason.STOP : FinishReason.TOOL_CALLS;
    return new ModelReply.ModelAnswer(reason, calls, usage, null);
  }

  private static ToolCall call(String tool) {
    return new ToolCall(new ToolCallId(UUID.randomUUID().toString()), tool, Json.object());
  }

  private TaskTestBed world(EventLog log, Model model) {
    var agents = TestTeam.agents(log, model, TaskLimits.DEFAULT, ToolPolicy.DEFAULT);
    return TaskTestBed.with(log, agents, folder, TaskLimits.DEFAULT);
  }

  @Test
  void a_task_is_seen_to_work_before_a_slow_model_says_anything() throws Exception {
    var seen = new CountDownLatch(1);
    try (var taskTestBed = world(TaskTestBed.newLog(), politeModel(seen::await))) {
      var task = taskTestBed.submit("greet").taskId();

      taskTestBed.await(entry -> entry.event() instanceof InternalLlmCall);
      seen.countDown();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.kinds(task))
          .containsExactly(
              Kind.TASK_CREATED,
              Kind.TASK_STATUS,
              Kind.INTERNAL_LLM_CALL,
              Kind.CONTENT_DELTA,
              Kind.CONTENT_COMPLETE,
              Kind.USAGE,
              Kind.MESSAGE,
              Kind.TASK_STATUS,
              Kind.TASK_COMPLETE);
    }
  }

  @Test
  void a_task_whose_first_append_fails_begins_when_the_store_is_back() throws Exception {
    var log =
        new LimitedAppendLog(
            TaskTestBed.newLog(), 1, () -> new Rejection.Unavailable("the disk is full"));
    try (var taskTestBed = world(log, politeModel(() -> {}))) {
      var task = taskTestBed.submit("greet").taskId();
      log.awaitRejection();
      log.allow(Integer.MAX_VALUE);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("hello");
      assertThat(taskTestBed.events(task, ContentComplete.class)).hasSize(1);
      assertThat(taskTestBed.events(task, TaskStatus.class))
          .extracting(TaskStatus::status)
          .containsExactly(TaskState.WORKING, TaskState.COMPLETED);
      LogInvariants.check(log, TaskTestBed.CONTEXT);
    }
  }

  @Test
  void a_task_that_a_stopped_server_left_begins_before_its_model_is_asked() throws Exception {
    var stored = TaskTestBed.newLog();
    var dying = new LimitedAppendLog(stored, 1, () -> new Rejection.Conflict("dead", "dead"));
    try (var taskTestBed = world(dying, politeModel(() -> {}))) {
      taskTestBed.submit("greet");
      dying.awaitRejection();
    }
    var before = new AtomicReference<List<Event>>(List.of());
    Wait look =
        () ->
            before.set(
                stored.read(TaskTestBed.CONTEXT, Position.START, Integer.MAX_VALUE).stream()
                    .map(Entry::event)
                    .toList());
    try (var taskTestBed = world(stored, politeModel(look))) {
      taskTestBed.tasks().recover();
      taskTestBed.await(entry -> TaskTestBed.terminal(entry.event()));

      assertThat(before.get()).anyMatch(TaskStatus.class::isInstance);
    }
  }

  /// Real time with other brief pauses.
  private abstract static class TimeWithPauses implements Time {
    private final Time time = new SystemTime(new SystemThreads());

    @Override
    public Instant instant() {
      return time.instant();
    }

    @Override
    public long nanos() {
      return time.nanos();
    }

    @Override
    public void parkUntil(Object blocker, long deadline) {
      time.parkUntil(blocker, deadline);
    }

    @Override
    public void waitUntil(Object monitor, long deadline) throws InterruptedException {
      time.waitUntil(monitor, deadline);
    }

    @Override
    public Timer schedule(String name, Duration delay, Runnable action) {
      return time.schedule(name, delay, action);
    }
  }

  /// Brief pauses last until the test ends them.
  private static final class PausingTime extends TimeWithPauses {
    private volatile CountDownLatch pause = new CountDownLatch(0);

    @Override
    public void pauseBriefly(Duration duration) {
      try {
        pause.await();
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /// Brief pauses last until the thread is unparked.
  private static final class UnparkedTime extends TimeWithPauses {
    @Override
    public void pauseBriefly(Duration duration) {
      parkUntil(this, deadline(Duration.ofHours(1)));
    }
  }

  /// A tool after whose call the next brief pause begins.
  private static Tool pausing(PausingTime time) {
    return TestTool.of(
        "pause",
        Tool.Effect.PURE,
        Tool.Permission.ALLOW,
        (_, _) -> {
          time.pause = new CountDownLatch(1);
          return TestTool.done("done");
        });
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException ignored) {
        // The model does not react to an interrupt.
      }
    }
  }

  /// A message for a running task, appended without waiting for what its run holds back.
  private static Message message(TaskId task, String text) {
    var metadata = Json.object();
    MessageFacts.putTaskId(metadata, task);
    MessageFacts.putSteering(metadata, List.of(task));
    return new Message(new MessageId("steering"), Role.USER, text, null, metadata, "local");
  }

  private static void append(EventLog log, Message message) {
    log.append(TaskTestBed.CONTEXT, AppendGuard.none(), _ -> List.of(EventDraft.of(message)));
  }

  @Test
  void a_message_that_arrives_just_before_a_model_call_is_in_its_prompt() throws Exception {
    var time = new PausingTime();
    var prompts = new CopyOnWriteArrayList<Prompt>();
    var asked = new CountDownLatch(2);
    var tool = pausing(time);
    var model =
        model(
            (prompt, modelSink) -> {
              prompts.add(prompt);
              asked.countDown();
              if (prompts.size() == 1) {
                return answered(List.of(call("pause")));
              }
              if (prompts.size() == 2) {
                NEVER.await(); // Only an interrupt ends this call, whose prompt is not complete.
              }
              modelSink.text("hello");
              return answered(List.of());
            });
    var log = TaskTestBed.newLog(time);
    var agents = TestTeam.agents(log, model, TaskLimits.DEFAULT, ToolPolicy.DEFAULT, tool);
    try (var taskTestBed = TaskTestBed.with(log, agents, folder, TaskLimits.DEFAULT)) {
      var task = taskTestBed.submit("greet").taskId();
      asked.await();
      append(log, message(task, "in French"));
      time.pause.countDown();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(prompts).hasSize(3);
      assertThat(prompts.getLast().parts().toString()).contains("in French");
      assertThat(taskTestBed.answer(task).content()).isEqualTo("hello");
      assertThat(taskTestBed.events(task, InternalLlmCall.class)).hasSize(2);
      LogInvariants.check(log, TaskTestBed.CONTEXT);
    }
  }

  @Test
  void the_usage_of_an_answer_that_is_discarded_is_recorded() throws Exception {
    var time = new PausingTime();
    var calls = new AtomicInteger();
    var asked = new CountDownLatch(2);
    var arrived = new CountDownLatch(1);
    var model =
        model(
            (_, modelSink) -> {
              var call = calls.incrementAndGet();
              asked.countDown();
              if (call == 1) {
                return answered(List.of(call("pause")));
              }
              awaitUninterruptibly(arrived); // The answer is complete when the message arrives.
              if (call == 3) {
                modelSink.text("hello");
              }
              return answered(List.of());
            });
    var log = TaskTestBed.newLog(time);
    var agents = TestTeam.agents(log, model, TaskLimits.DEFAULT, ToolPolicy.DEFAULT, pausing(time));
    try (var taskTestBed = TaskTestBed.with(log, agents, folder, TaskLimits.DEFAULT)) {
      var task = taskTestBed.submit("greet").taskId();
      asked.await();
      append(log, message(task, "in French"));
      time.pause.countDown();
      arrived.countDown();

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(calls.get()).isEqualTo(3);
      assertThat(taskTestBed.events(task, Usage.class)).hasSize(3);
      var end = taskTestBed.events(task, TaskComplete.class).getFirst();
      assertThat(end.metadata().path("tokensUsed").asInt()).isEqualTo(45);
      LogInvariants.check(log, TaskTestBed.CONTEXT);
    }
  }

  /// A model whose first call only an interrupt ends. Later calls say `hello`.
  private static final class StuckModel {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);

    Model model() {
      return FirstAppendTest.model(
          (_, modelSink) -> {
            if (asked.getCount() > 0) {
              asked.countDown();
              try {
                NEVER.await();
              } catch (InterruptedException stopped) {
                interrupted.countDown();
                throw stopped;
              }
            }
            modelSink.text("hello");
            return answered(List.of());
          });
    }

    void awaitInterrupt() throws InterruptedException {
      assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  /// The task as the log has it.
  private static Origin origin(EventLog log, TaskId task) {
    return log.inspect(TaskTestBed.CONTEXT, state -> state.openTask(task).orElseThrow().origin());
  }

  private static void append(EventLog log, Origin origin, Event... events) {
    log.append(
        TaskTestBed.CONTEXT,
        AppendGuard.none(),
        _ -> Stream.of(events).map(event -> new EventDraft(origin, event)).toList());
  }

  private static List<Event> ends(TaskTestBed taskTestBed, TaskId task) {
    return taskTestBed.events(task).stream().filter(TaskTestBed::terminal).toList();
  }

  @Test
  void a_task_that_ends_before_its_first_append_stops_asking_its_model() throws Exception {
    var time = new PausingTime();
    time.pause = new CountDownLatch(1);
    var stuck = new StuckModel();
    try (var taskTestBed = world(TaskTestBed.newLog(time), stuck.model())) {
      var task = taskTestBed.submit("greet").taskId();
      stuck.asked.await();
      append(
          taskTestBed.log(),
          origin(taskTestBed.log(), task),
          new CancelRequested("local", null),
          new TaskStatus(TaskState.CANCELED, null, StatusFacts.ofNeverStarted("canceled")));
      time.pause.countDown();

      stuck.awaitInterrupt();
      taskTestBed.awaitNoRun();
      assertThat(ends(taskTestBed, task)).hasSize(1);
      assertThat(taskTestBed.events(task)).hasSize(3);
      LogInvariants.check(taskTestBed.log(), TaskTestBed.CONTEXT);
    }
  }

  @Test
  void a_task_that_another_one_overtakes_stops_asking_its_model() throws Exception {
    var time = new PausingTime();
    time.pause = new CountDownLatch(1);
    var stuck = new StuckModel();
    try (var taskTestBed = world(TaskTestBed.newLog(time), stuck.model())) {
      var task = taskTestBed.submit("greet").taskId();
      stuck.asked.await();
      var other = taskTestBed.submit("greet").taskId();
      append(
          taskTestBed.log(),
          origin(taskTestBed.log(), other),
          new TaskStatus(TaskState.WORKING, null, null));
      time.pause.countDown();

      stuck.awaitInterrupt();
      assertThat(taskTestBed.awaitEnd(other)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      LogInvariants.check(taskTestBed.log(), TaskTestBed.CONTEXT);
    }
  }

  @Test
  void a_task_whose_first_append_fails_asks_its_model_again() throws Exception {
    var log =
        new LimitedAppendLog(
            TaskTestBed.newLog(), 1, () -> new Rejection.Unavailable("the disk is full"));
    var stuck = new StuckModel();
    try (var taskTestBed = world(log, stuck.model())) {
      var task = taskTestBed.submit("greet").taskId();

      stuck.awaitInterrupt();
      log.allow(Integer.MAX_VALUE);

      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(taskTestBed.answer(task).content()).isEqualTo("hello");
      LogInvariants.check(log, TaskTestBed.CONTEXT);
    }
  }

  @Test
  void a_task_that_is_canceled_before_its_first_append_begins_first() throws Exception {
    var stuck = new StuckModel();
    try (var taskTestBed = world(TaskTestBed.newLog(new UnparkedTime()), stuck.model())) {
      var task = taskTestBed.submit("greet").taskId();
      stuck.asked.await();

      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);

      stuck.awaitInterrupt();
      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
      assertThat(taskTestBed.kinds(task))
          .containsExactly(
              Kind.TASK_CREATED,
              Kind.TASK_STATUS,
              Kind.INTERNAL_LLM_CALL,
              Kind.CANCEL_REQUESTED,
              Kind.TASK_STATUS);
      LogInvariants.check(taskTestBed.log(), TaskTestBed.CONTEXT);
    }
  }

  @Test
  void a_subtask_that_is_canceled_before_its_first_append_stops_with_its_parent() throws Exception {
    var stuck = new StuckModel();
    var child = stuck.model();
    var calls = new AtomicInteger();
    var model =
        model(
            (prompt, modelSink) ->
                calls.incrementAndGet() == 1
                    ? answered(List.of(delegation()))
                    : child.ask(prompt, modelSink));
    try (var taskTestBed = world(TaskTestBed.newLog(new UnparkedTime()), model)) {
      var parent = taskTestBed.submit("greet").taskId();
      stuck.asked.await();

      taskTestBed.tasks().cancelAll(TaskTestBed.CONTEXT, "deleted", "local");

      stuck.awaitInterrupt();
      taskTestBed.awaitNoRun();
      var subtask = taskTestBed.events(parent, SubtaskCreated.class).getFirst().subtaskId();
      assertThat(taskTestBed.kinds(subtask)).contains(Kind.INTERNAL_LLM_CALL);
      assertThat(ends(taskTestBed, subtask)).hasSize(1);
      assertThat(ends(taskTestBed, parent)).hasSize(1);
      LogInvariants.check(taskTestBed.log(), TaskTestBed.CONTEXT);
    }
  }

  private static ToolCall delegation() {
    return new ToolCall(
        new ToolCallId(UUID.randomUUID().toString()),
        "agent_a",
        Json.object().put("prompt", "greet"));
  }
}
