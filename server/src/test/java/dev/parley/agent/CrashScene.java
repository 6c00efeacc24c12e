package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.EventLog;
import dev.parley.log.FreezingLog;
import dev.parley.log.Guard;
import dev.parley.log.MemoryLog;
import dev.parley.log.OpenInput;
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
import dev.parley.task.Limits;
import dev.parley.task.Sound;
import dev.parley.task.Submission;
import dev.parley.task.World;
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
final class CrashScene {

  /// The message, the behaviour of the person who answers, and the expected end.
  record Script(String text, Submission.Options options, Person person, TaskState end) {
    static Script of(String text) {
      return new Script(text, Submission.Options.NONE, Person.WILLING, TaskState.COMPLETED);
    }

    Script with(Person other) {
      var expected = other == Person.CANCELING ? TaskState.CANCELED : end;
      return new Script(text, options, other, expected);
    }

    Script with(Submission.Options other) {
      return new Script(text, other, person, end);
    }
  }

  enum Person {
    /// Approves, answers, and repeats calls whose outcome is unknown.
    WILLING,
    /// Approves and answers, but does not repeat calls whose outcome is unknown.
    CAREFUL,
    /// Cancels the task at the first question.
    CANCELING
  }

  private static final Limits LIMITS = World.limits(50, 10, Duration.ofMillis(500));
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
  interface Cast {
    Map<AgentTypeId, Agent> of(EventLog log, Limits limits, Tool... tools);
  }

  private final Script script;
  private final Cast cast;
  private final Path folder;
  private final MemoryLog log = World.newLog();
  private final Ledger ledger = new Ledger();
  private final List<String> deaths = new ArrayList<>();
  private int lives;

  CrashScene(Script script, Cast cast, Path folder) {
    this.script = script;
    this.cast = cast;
    this.folder = folder;
  }

  /// Runs the scenario without a crash. Returns the fail points that the server reaches, and how
  /// often.
  Map<String, Integer> rehearse() throws InterruptedException {
    var life = ledger.live(lives++);
    play(log, life);
    check();
    return life.reached();
  }

  /// Runs a server that crashes when it reaches `place` for the `countdown`-th time. False if it
  /// does not get there.
  boolean die(String place, int countdown) throws InterruptedException {
    var freezing = new FreezingLog(log, Integer.MAX_VALUE, () -> new Rejection.Gone("frozen"));
    var life = ledger.die(lives++, place, countdown, () -> freezing.thaw(0));
    deaths.add(place + ":" + countdown);
    play(freezing, life);
    return life.dead();
  }

  /// Runs a last server, which ends what the others started.
  void live() throws InterruptedException {
    try {
      end();
    } catch (AssertionError wrong) {
      throw new AssertionError("after dying at " + deaths + ": " + wrong.getMessage(), wrong);
    }
  }

  private void end() throws InterruptedException {
    var done = done();
    var life = ledger.live(lives);
    play(log, life);
    check();
    assertThat(ledger.effects())
        .filteredOn(effect -> effect.life() == lives)
        .as("calls that had ended before are not made again")
        .noneMatch(effect -> done.contains(effect.key()));
  }

  private void play(EventLog store, Ledger.Life life) throws InterruptedException {
    try (var world = World.with(store, cast.of(store, LIMITS, tools(life)), folder, LIMITS, life)) {
      try {
        if (root().isPresent()) {
          world.tasks().recover();
        } else {
          world.tasks().submit(World.submission(script.text(), script.options()));
        }
        serve(world, life);
      } catch (Rejection.Gone died) {
        assertThat(life.dead()).as("%s", died).isTrue();
      }
    }
  }

  private static Tool[] tools(Ledger.Life life) {
    return new Tool[] {
      life.tool("pure", Effect.PURE, Permission.ALLOW, true),
      life.tool("idempotent", Effect.IDEMPOTENT, Permission.ALLOW, true),
      life.tool("once", Effect.AT_MOST_ONCE, Permission.ALLOW, true),
      life.tool("doubtful", Effect.ASK, Permission.ALLOW, true),
      life.tool("guarded", Effect.AT_MOST_ONCE, Permission.ASK, true),
      life.tool("solo", Effect.AT_MOST_ONCE, Permission.ALLOW, false),
      TestTool.asking()
    };
  }

  /// Answers questions until the task has ended or the server has crashed.
  private void serve(World world, Ledger.Life life) throws InterruptedException {
    var root = root().orElseThrow();
    var deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!life.dead()) {
      var head = log.head(World.CONTEXT);
      if (log.inspect(World.CONTEXT, state -> state.openTask(root).isEmpty())) {
        return;
      }
      var open = log.inspect(World.CONTEXT, state -> List.copyOf(state.openInputs()));
      if (!open.isEmpty() && script.person() == Person.CANCELING) {
        world.tasks().cancel(World.CONTEXT, root, "local", "enough");
      } else {
        open.forEach(input -> answer(world, input));
      }
      log.await(World.CONTEXT, head, LOOK);
      assertThat(System.nanoTime())
          .as("the task hangs: %s", Sound.read(log, World.CONTEXT))
          .isLessThan(deadline);
    }
  }

  private void answer(World world, OpenInput input) {
    var asked = input.required();
    JsonNode value =
        asked.inputType() == InputType.CONFIRMATION
            ? BooleanNode.valueOf(!(doubt(asked) && script.person() == Person.CAREFUL))
            : StringNode.valueOf("blue");
    try {
      world
          .tasks()
          .answer(World.CONTEXT, asked.inputId(), value, Answerer.trusted("local"), Guard.none());
    } catch (Rejection.Conflict coordinatorWasFaster) {
      assertThat(coordinatorWasFaster.code()).isEqualTo("not-wanted");
    }
  }

  private static boolean doubt(InputRequired asked) {
    return asked.metadata().path(Story.PURPOSE).asString().equals("doubt");
  }

  private Optional<TaskId> root() {
    return entries().stream()
        .filter(e -> e.event() instanceof TaskCreated)
        .map(Entry::taskId)
        .findFirst();
  }

  private List<Entry> entries() {
    return log.read(World.CONTEXT, dev.parley.protocol.Position.START, Integer.MAX_VALUE);
  }

  private void check() {
    Sound.check(log, World.CONTEXT);
    var root = root().orElseThrow();
    var last = entries().stream().filter(e -> root.equals(e.taskId())).toList().getLast().event();
    assertThat(last).matches(World::terminal);
    assertThat(last instanceof dev.parley.protocol.TaskEvent.TaskComplete)
        .as("ends as it should: %s", last)
        .isEqualTo(script.end() == TaskState.COMPLETED);
    checkEffects();
  }

  /// At most one effect for each key, except for calls that may be repeated; at least one for each
  /// successful call.
  private void checkEffects() {
    var starts = byKey(ToolStart.class);
    var again = approvedDoubts();
    var count = new HashMap<String, Integer>();
    for (var effect : ledger.effects()) {
      assertThat(starts).as("nothing is done that is not in the log").containsKey(effect.key());
      var times = count.merge(effect.key(), 1, Integer::sum);
      switch (EFFECTS.get(effect.tool())) {
        case PURE, IDEMPOTENT -> assertThat(times).isLessThanOrEqualTo(lives + 1);
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
