package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState.OpenInput;
import dev.parley.log.EventLog;
import dev.parley.log.LimitedAppendLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Agent;
import dev.parley.task.Answerer;
import dev.parley.task.LogInvariants;
import dev.parley.task.Submission;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

/// Runs one scenario on one log, with servers that each crash at a given fail point, and a last one
/// that does not. Not thread-safe.
final class CrashScenario {

  /// The message, the behaviour of the person who answers, and the expected end.
  record CrashScript(
      String text, Submission.TaskOptions options, AnsweringPerson person, TaskState end) {
    static CrashScript of(String text) {
      return new CrashScript(
          text, Submission.TaskOptions.NONE, AnsweringPerson.WILLING, TaskState.COMPLETED);
    }

    CrashScript with(AnsweringPerson other) {
      var expected = other == AnsweringPerson.CANCELING ? TaskState.CANCELED : end;
      return new CrashScript(text, options, other, expected);
    }

    CrashScript with(Submission.TaskOptions other) {
      return new CrashScript(text, other, person, end);
    }
  }

  enum AnsweringPerson {
    /// Approves, answers, and repeats calls whose outcome is unknown.
    WILLING,
    /// Approves and answers, but does not repeat calls whose outcome is unknown.
    CAREFUL,
    /// Cancels the task at the first question.
    CANCELING
  }

  private static final TaskLimits LIMITS = TaskTestBed.limits(50, 10, Duration.ofMillis(500));
  private static final Duration LOOK = Duration.ofMillis(20);

  /// The tools and their effects.
  private static final Map<String, Effect> EFFECTS =
      Map.of(
          "pure", Effect.PURE,
          "idempotent", Effect.IDEMPOTENT,
          "once", Effect.AT_MOST_ONCE,
          "doubtful", Effect.ASK,
          "guarded", Effect.AT_MOST_ONCE,
          "solo", Effect.AT_MOST_ONCE);

  /// Creates the agents of a test bed.
  interface CrashAgentFactory {
    Map<AgentTypeId, Agent> of(EventLog log, TaskLimits taskLimits, Tool... tools);
  }

  private final CrashScript crashScript;
  private final CrashAgentFactory agentFactory;
  private final Path folder;
  private final MemoryLog log = TaskTestBed.newLog();
  private final EffectLedger effectLedger = new EffectLedger();
  private final List<String> crashes = new ArrayList<>();
  private int serverRuns;

  CrashScenario(CrashScript crashScript, CrashAgentFactory crashAgentFactory, Path folder) {
    this.crashScript = crashScript;
    this.agentFactory = crashAgentFactory;
    this.folder = folder;
  }

  /// Runs the scenario without a crash. Returns the fail points that the server reaches, and how
  /// often.
  Map<String, Integer> runWithoutCrash() throws InterruptedException {
    var serverRun = effectLedger.stableRun(serverRuns++);
    runServer(log, serverRun);
    check();
    return serverRun.reached();
  }

  /// Runs a server that crashes when it reaches `place` for the `countdown`-th time. False if it
  /// does not get there.
  boolean runUntilCrash(String place, int countdown) throws InterruptedException {
    var freezing = new LimitedAppendLog(log, Integer.MAX_VALUE, () -> new Rejection.Gone("frozen"));
    var serverRun =
        effectLedger.crashingRun(serverRuns++, place, countdown, () -> freezing.allow(0));
    crashes.add(place + ":" + countdown);
    runServer(freezing, serverRun);
    return serverRun.dead();
  }

  /// Runs a last server, which ends what the others started.
  void runToEnd() throws InterruptedException {
    try {
      end();
    } catch (AssertionError wrong) {
      throw new AssertionError("after dying at " + crashes + ": " + wrong.getMessage(), wrong);
    }
  }

  private void end() throws InterruptedException {
    var done = done();
    var serverRun = effectLedger.stableRun(serverRuns);
    runServer(log, serverRun);
    check();
    assertThat(effectLedger.effects())
        .filteredOn(effect -> effect.serverRun() == serverRuns)
        .as("calls that had ended before are not made again")
        .noneMatch(effect -> done.contains(effect.key()));
  }

  private void runServer(EventLog store, EffectLedger.ServerRun serverRun)
      throws InterruptedException {
    try (var taskTestBed =
        TaskTestBed.with(
            store, agentFactory.of(store, LIMITS, tools(serverRun)), folder, LIMITS, serverRun)) {
      try {
        if (root().isPresent()) {
          taskTestBed.tasks().recover();
        } else {
          taskTestBed
              .tasks()
              .submit(TaskTestBed.submission(crashScript.text(), crashScript.options()));
        }
        serve(taskTestBed, serverRun);
      } catch (Rejection.Gone died) {
        assertThat(serverRun.dead()).as("%s", died).isTrue();
      }
    }
  }

  private static Tool[] tools(EffectLedger.ServerRun serverRun) {
    return new Tool[] {
      serverRun.tool("pure", Effect.PURE, Permission.ALLOW, true),
      serverRun.tool("idempotent", Effect.IDEMPOTENT, Permission.ALLOW, true),
      serverRun.tool("once", Effect.AT_MOST_ONCE, Permission.ALLOW, true),
      serverRun.tool("doubtful", Effect.ASK, Permission.ALLOW, true),
      serverRun.tool("guarded", Effect.AT_MOST_ONCE, Permission.ASK, true),
      serverRun.tool("solo", Effect.AT_MOST_ONCE, Permission.ALLOW, false),
      TestTool.asking()
    };
  }

  /// Answers questions until the task has ended or the server has crashed.
  private void serve(TaskTestBed taskTestBed, EffectLedger.ServerRun serverRun)
      throws InterruptedException {
    var root = root().orElseThrow();
    var deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!serverRun.dead()) {
      var head = log.head(TaskTestBed.CONTEXT);
      if (log.inspect(TaskTestBed.CONTEXT, state -> state.openTask(root).isEmpty())) {
        return;
      }
      var open = log.inspect(TaskTestBed.CONTEXT, state -> List.copyOf(state.openInputs()));
      if (!open.isEmpty() && crashScript.person() == AnsweringPerson.CANCELING) {
        taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, root, "local", "enough");
      } else {
        open.forEach(input -> answer(taskTestBed, input));
      }
      log.await(TaskTestBed.CONTEXT, head, LOOK);
      assertThat(System.nanoTime())
          .as("the task hangs: %s", LogInvariants.read(log, TaskTestBed.CONTEXT))
          .isLessThan(deadline);
    }
  }

  private void answer(TaskTestBed taskTestBed, OpenInput input) {
    var asked = input.required();
    JsonNode value =
        asked.inputType() == InputType.CONFIRMATION
            ? BooleanNode.valueOf(
                !(doubt(asked) && crashScript.person() == AnsweringPerson.CAREFUL))
            : StringNode.valueOf("blue");
    try {
      taskTestBed
          .tasks()
          .answer(
              TaskTestBed.CONTEXT,
              asked.inputId(),
              value,
              Answerer.trusted("local"),
              AppendGuard.none());
    } catch (Rejection.Conflict coordinatorWasFaster) {
      assertThat(coordinatorWasFaster.code()).isEqualTo("not-wanted");
    }
  }

  private static boolean doubt(InputRequired asked) {
    return asked.metadata().path("purpose").asString().equals("doubt");
  }

  private Optional<TaskId> root() {
    return entries().stream()
        .filter(e -> e.event() instanceof TaskCreated)
        .map(Entry::taskId)
        .findFirst();
  }

  private List<Entry> entries() {
    return log.read(TaskTestBed.CONTEXT, dev.parley.protocol.Position.START, Integer.MAX_VALUE);
  }

  private void check() {
    LogInvariants.check(log, TaskTestBed.CONTEXT);
    var root = root().orElseThrow();
    var last = entries().stream().filter(e -> root.equals(e.taskId())).toList().getLast().event();
    assertThat(last).matches(TaskTestBed::terminal);
    assertThat(last instanceof dev.parley.protocol.TaskEvent.TaskComplete)
        .as("ends as it should: %s", last)
        .isEqualTo(crashScript.end() == TaskState.COMPLETED);
    checkEffects();
  }

  /// At most one effect for each key, except for calls that may be repeated; at least one for each
  /// successful call.
  private void checkEffects() {
    var starts = byKey(ToolStart.class);
    var again = approvedDoubts();
    var count = new HashMap<String, Integer>();
    for (var effect : effectLedger.effects()) {
      assertThat(starts).as("nothing is done that is not in the log").containsKey(effect.key());
      var times = count.merge(effect.key(), 1, Integer::sum);
      switch (EFFECTS.get(effect.tool())) {
        case PURE, IDEMPOTENT -> assertThat(times).isLessThanOrEqualTo(serverRuns + 1);
        case AT_MOST_ONCE -> assertThat(times).as("effects of %s", effect).isOne();
        case ASK ->
            assertThat(times)
                .as("effects of %s", effect)
                .isLessThanOrEqualTo(1 + again.getOrDefault(effect.key(), 0));
      }
    }
    byKey(ToolComplete.class)
        .forEach(
            (key, end) -> {
              if (end.success() && EFFECTS.containsKey(end.toolName())) {
                assertThat(count).containsKey(key);
              }
            });
  }

  /// How often a person approved that a call is repeated.
  private Map<String, Integer> approvedDoubts() {
    var asked = new HashMap<String, String>();
    var approved = new HashMap<String, Integer>();
    for (var entry : entries()) {
      if (entry.event() instanceof InputRequired required && doubt(required)) {
        var call = required.metadata().path("toolCallId").asString();
        asked.put(required.inputId().value(), entry.taskId() + "/" + call);
      } else if (entry.event() instanceof InputReceived received
          && received.value().isBoolean()
          && received.value().asBoolean()
          && asked.containsKey(received.inputId().value())) {
        approved.merge(asked.get(received.inputId().value()), 1, Integer::sum);
      }
    }
    return approved;
  }

  private Set<String> done() {
    return new HashSet<>(byKey(ToolComplete.class).keySet());
  }

  private <E extends Event> Map<String, E> byKey(Class<E> type) {
    return entries().stream()
        .filter(e -> type.isInstance(e.event()))
        .collect(
            Collectors.toMap(
                e -> e.taskId() + "/" + call(e.event()),
                e -> type.cast(e.event()),
                (_, second) -> second,
                LinkedHashMap::new));
  }

  private static String call(Event event) {
    return switch (event) {
      case ToolStart start -> start.toolCallId().value();
      case ToolComplete end -> end.toolCallId().value();
      default -> throw new IllegalArgumentException("not of a call: " + event);
    };
  }
}
