package dev.parley.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SeededThreads;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.StringNode;

/// Plays random requests, time and crashes against the tasks of two contexts. A seed decides the
/// requests and the order in which threads run; a failure names its seed.
@Timeout(120)
@SuppressWarnings("ThreadPriorityCheck") // With seeded threads, each yield is a scheduling point.
class SeededTasksTest {

  private static final int SEEDS = 32;
  private static final int ROUNDS = 12;
  private static final int SLOTS = 3;

  /// How long something that must happen may take on a busy machine.
  private static final Duration GIVE_UP = Duration.ofSeconds(20);

  private static final List<ContextId> CONTEXTS = List.of(new ContextId("c"), new ContextId("d"));
  private static final List<String> PROMPTS = List.of("write", "ask", "spawn", "hang", "fail");

  private static final List<WhenBusy> CHOICES = List.copyOf(EnumSet.allOf(WhenBusy.class));

  @TempDir Path folder;

  @Test
  void whatever_happens_no_task_hangs_or_ends_twice() {
    for (var seed = 0; seed < SEEDS; seed++) {
      try (var game = new Game(seed)) {
        game.play();
      } catch (Throwable failed) {
        throw new AssertionError("failed with seed " + seed, failed);
      }
    }
  }

  /// Does what its prompt says. Its next step depends only on the log.
  private static final class Player implements Agent {

    final Set<TaskId> working = ConcurrentHashMap.newKeySet();

    @Override
    public boolean resumes() {
      return true;
    }

    @Override
    public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
      var task = taskRun.origin().taskId();
      working.add(task);
      try {
        var events = taskRun.readNewEntries().stream().map(Entry::event).toList();
        return switch (String.valueOf(taskRun.created().prompt())) {
          case "ask" -> ask(taskRun, events);
          case "spawn" -> spawn(taskRun, events);
          case "hang" -> {
            while (true) {
              taskRun.awaitSignal();
            }
          }
          case "fail" -> new TaskOutcome.Failed(ErrorCode.INTERNAL, "on purpose", false);
          default -> write(taskRun);
        };
      } finally {
        working.remove(task);
      }
    }

    private static TaskOutcome write(TaskRun taskRun) {
      taskRun.closeBlocks();
      var block = taskRun.sources().blockId();
      taskRun.emit(List.of(new ContentDelta("a", 0, block)));
      Thread.yield();
      taskRun.emit(List.of(new ContentDelta("b", 1, block)));
      Thread.yield();
      taskRun.emit(List.of(new ContentComplete("ab", block, FinishReason.STOP, null, null, null)));
      return new TaskOutcome.Completed("ab");
    }

    private static TaskOutcome ask(TaskRun taskRun, List<Event> events) {
      if (events.stream().anyMatch(e -> e instanceof InputReceived || e instanceof InputLapsed)) {
        return new TaskOutcome.Completed("asked");
      }
      if (events.stream().noneMatch(InputRequired.class::isInstance)) {
        var input = new InputId(taskRun.sources().ids().get());
        var expires = taskRun.sources().time().instant().plus(Duration.ofHours(1));
        taskRun.emit(
            List.of(
                new InputRequired(
                    input, true, InputType.CLARIFICATION, "who?", null, null, null, expires)));
      }
      Thread.yield();
      return new TaskOutcome.Parked(TaskState.WAITING_INPUT, Json.object());
    }

    private static TaskOutcome spawn(TaskRun taskRun, List<Event> events) {
      var call = new ToolCallId("call-" + taskRun.origin().taskId());
      if (events.stream().noneMatch(ToolStart.class::isInstance)) {
        var children = List.of(taskRun.sources().taskId(), taskRun.sources().taskId());
        var subagents = new SubagentMetadata(children, 2, Mode.PARALLEL);
        var start = new ToolStart(call, "spawn", Json.object(), null, null, null, null, subagents);
        taskRun
            .spawner()
            .spawn(
                taskRun,
                new SubtaskSpawner.SpawningCall(call, new InvocationId("i"), List.of(start)),
                List.of(request(children.get(0), "write"), request(children.get(1), "ask")));
        return new TaskOutcome.Parked(TaskState.WAITING_SUBTASK, Json.object());
      }
      var created = events.stream().filter(SubtaskCreated.class::isInstance).count();
      var ended = events.stream().filter(SubtaskComplete.class::isInstance).count();
      if (ended < created) {
        return new TaskOutcome.Parked(TaskState.WAITING_SUBTASK, Json.object());
      }
      if (events.stream().noneMatch(ToolComplete.class::isInstance)) {
        var start = events.stream().filter(ToolStart.class::isInstance).findFirst().orElseThrow();
        taskRun.emit(
            List.of(
                new ToolComplete(
                    call,
                    "spawn",
                    true,
                    null,
                    null,
                    null,
                    null,
                    ((ToolStart) start).subagentMetadata())));
      }
      return new TaskOutcome.Completed("spawned");
    }

    private static SubtaskSpawner.SubtaskRequest request(TaskId task, String prompt) {
      return new SubtaskSpawner.SubtaskRequest(task, TaskTestBed.AGENT, prompt, null);
    }
  }

  private final class Game implements AutoCloseable {

    private final Random random;
    private final SeededThreads threads;
    private final ManualTime time;
    private final EventLog log;
    private final AtomicInteger ids = new AtomicInteger();
    private final TaskSources sources;
    private AtomicBoolean crashed = new AtomicBoolean();
    private Player player = new Player();
    private Tasks tasks;

    Game(long seed) {
      random = new Random(seed);
      threads = new SeededThreads(seed);
      time = new ManualTime(threads);
      log = new MemoryLog(time);
      CONTEXTS.forEach(context -> log.create(context, new ContextCreated("local", null, null)));
      sources = new TaskSources(time, threads, () -> "id-" + ids.incrementAndGet());
      tasks = newTasks();
    }

    private Tasks newTasks() {
      var dead = crashed;
      return new Tasks(
          mortal(dead),
          new LogHistory(log),
          new TaskSettings(
              new AgentDirectory(Map.of(TaskTestBed.AGENT, player), TaskTestBed.AGENT),
              new Workspaces(List.of(folder)),
              TaskTestBed.limits(SLOTS, 5, Duration.ofSeconds(5)),
              FailPoint.NONE),
          sources);
    }

    /// The log as one process uses it: after a crash, the process reads and writes nothing.
    private EventLog mortal(AtomicBoolean dead) {
      return (EventLog)
          Proxy.newProxyInstance(
              EventLog.class.getClassLoader(),
              new Class<?>[] {EventLog.class},
              (_, method, arguments) -> {
                if (dead.get()) {
                  throw new Rejection.Unavailable("crashed");
                }
                try {
                  return method.invoke(log, arguments);
                } catch (InvocationTargetException thrown) {
                  throw thrown.getCause();
                }
              });
    }

    void play() throws InterruptedException {
      for (var round = 0; round < ROUNDS; round++) {
        var steps = new ArrayList<Runnable>();
        for (var i = random.nextInt(4); i >= 0; i--) {
          steps.add(step());
        }
        run(() -> steps.forEach(step -> threads.start("step", () -> tolerate(step))));
        if (random.nextInt(5) == 0) {
          restart();
        }
        checkIdle();
      }
      CONTEXTS.forEach(
          context -> start(() -> tolerate(() -> tasks.cancelAll(context, "done", null))));
      threads.awaitIdle();
      settle(() -> log.withOpenTasks().isEmpty(), () -> time.advance(Duration.ofSeconds(1)));
      CONTEXTS.forEach(context -> LogInvariants.check(log, context));
    }

    private void start(Runnable work) {
      threads.start("game", work);
    }

    private void run(Runnable work) throws InterruptedException {
      start(work);
      threads.awaitIdle();
    }

    /// Runs `work` until `done`. A thread that a monitor wakes is scheduled by a thread of the JDK, a
    /// moment later, so what is done once all threads are idle may need another look.
    private void settle(BooleanSupplier done, Runnable work) throws InterruptedException {
      var giveUp = System.nanoTime() + GIVE_UP.toNanos();
      while (!done.getAsBoolean() && System.nanoTime() < giveUp) {
        run(work);
        Thread.yield();
      }
    }

    /// A rejection is an answer; everything else is a failure of the thread, which `checkIdle` sees.
    private void tolerate(Runnable step) {
      try {
        step.run();
      } catch (Rejection rejected) {
        // The caller receives an error.
      }
    }

    private Runnable step() {
      var context = CONTEXTS.get(random.nextInt(CONTEXTS.size()));
      var current = tasks;
      return switch (random.nextInt(8)) {
        case 0, 1, 2, 3 -> {
          var whenBusy = CHOICES.get(random.nextInt(CHOICES.size()));
          var prompt = PROMPTS.get(random.nextInt(PROMPTS.size()));
          var submission =
              new Submission(
                  context,
                  "local",
                  prompt,
                  null,
                  TaskTestBed.options(whenBusy),
                  AppendGuard.none());
          yield () -> current.submit(submission);
        }
        case 4 -> {
          var open =
              log.inspect(context, s -> s.openTasks().stream().map(t -> t.origin()).toList());
          var task = open.isEmpty() ? null : open.get(random.nextInt(open.size())).taskId();
          yield () -> {
            if (task != null) {
              current.cancel(context, task, "local", null);
            }
          };
        }
        case 5, 6 -> {
          var open = log.inspect(context, s -> s.openInputs().stream().toList());
          var input =
              open.isEmpty() ? null : open.get(random.nextInt(open.size())).required().inputId();
          yield () -> {
            if (input != null) {
              current.answer(
                  context,
                  input,
                  StringNode.valueOf("me"),
                  Answerer.trusted("local"),
                  AppendGuard.none());
            }
          };
        }
        default -> {
          var passes = Duration.ofMinutes(random.nextInt(90));
          yield () -> time.advance(passes);
        }
      };
    }

    /// Stops the server, or lets it crash at the next access to its log, and starts another.
    private void restart() throws InterruptedException {
      if (random.nextBoolean()) {
        crashed.set(true);
      }
      var old = tasks;
      var stopped = new AtomicBoolean();
      run(
          () -> {
            old.close();
            stopped.set(true);
          });
      settle(stopped::get, () -> time.advance(Duration.ofSeconds(1)));
      assertThat(stopped).as("the server stops").isTrue();
      // Nothing that the old process still does reaches the log.
      crashed.set(true);
      crashed = new AtomicBoolean();
      player = new Player();
      tasks = newTasks();
      run(tasks::recover);
    }

    /// Nothing runs any more: what could run does, as far as there are slots, and what is being
    /// canceled has ended or is running.
    private void checkIdle() throws InterruptedException {
      settle(() -> missed().isEmpty(), () -> {});
      assertThat(missed()).as("tasks that nobody runs or ends").isEmpty();
    }

    private List<String> missed() {
      var missed = new ArrayList<String>();
      for (var context : CONTEXTS) {
        log.inspect(
            context,
            state -> {
              ContextSchedule.ready(state).stream()
                  .map(task -> task.origin().taskId())
                  .filter(task -> !player.working.contains(task) && tasks.running() < SLOTS)
                  .forEach(task -> missed.add("ready: " + task));
              ContextSchedule.stoppable(state).stream()
                  .filter(task -> !player.working.contains(task))
                  .forEach(task -> missed.add("to be ended: " + task));
              return true;
            });
      }
      return missed;
    }

    @Override
    public void close() {
      crashed.set(true);
      start(tasks::close);
      start(() -> time.advance(Duration.ofMinutes(1)));
      threads.close();
    }
  }
}
