package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agent.CrashScene.Cast;
import dev.parley.agent.CrashScene.Person;
import dev.parley.agent.CrashScene.Script;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.supervisor.Member;
import dev.parley.supervisor.Supervisor;
import dev.parley.task.Agent;
import dev.parley.task.LogHistory;
import dev.parley.task.Submission;
import dev.parley.task.World;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Kills a server at each fail point, each time it gets there, lets another server continue, and
/// compares the side effects of both with a ledger.
@Timeout(60)
class CrashTest {

  /// Logs every task that fails, which is what this test causes all the time.
  private static final Logger RUNNER = Logger.getLogger("dev.parley.task");

  @TempDir Path folder;

  @BeforeEach
  void hush() {
    RUNNER.setLevel(Level.OFF);
  }

  @AfterEach
  void speak() {
    RUNNER.setLevel(null);
  }

  static Stream<Arguments> scenes() {
    return Stream.of(
        scene("a pure tool", Script.of("!pure {\"n\":1}")),
        scene("an idempotent tool", Script.of("!idempotent {\"n\":1}")),
        scene("a tool that acts at most once", Script.of("!once {\"n\":1}")),
        scene("a tool that is asked about, and done again", Script.of("!doubtful")),
        scene(
            "a tool that is asked about, and not done again",
            Script.of("!doubtful").with(Person.CAREFUL)),
        scene("a tool that needs approval", Script.of("!guarded {\"n\":1}")),
        scene(
            "tools side by side",
            Script.of("!once {\"n\":1}\n!once {\"n\":2}\n!idempotent\n!doubtful\n!guarded")),
        scene(
            "tools one after the other",
            Script.of("!solo {\"n\":1}\n!pure\n!solo {\"n\":2}\n!once")),
        scene("a question to a person", Script.of("!ask {\"q\":\"colour?\",\"user\":true}\n!once")),
        scene(
            "a batch side by side",
            Script.of(
                SubagentsTest.batch(Mode.PARALLEL, "!once", "!guarded", "!doubtful") + "\n!once")),
        scene(
            "a batch one after the other",
            Script.of(SubagentsTest.batch(Mode.SERIAL, "!once", "!idempotent", "!guarded"))),
        scene(
            "a batch of which one fails",
            Script.of(SubagentsTest.batch(Mode.SERIAL, "!once", "fail", "!once"))),
        scene(
            "sub-agents below each other",
            Script.of(
                SubagentsTest.hand(
                    "a",
                    SubagentsTest.hand("b", "!once\n" + SubagentsTest.hand("c", "!guarded"))))),
        scene(
            "a question that the agent above can answer",
            Script.of(
                "the colour is green\n"
                    + SubagentsTest.hand("a", "!ask {\"q\":\"colour?\"}\n!once"))),
        scene(
            "a question that nobody above can answer",
            Script.of(SubagentsTest.hand("a", "!ask {\"q\":\"colour?\"}\n!once"))),
        scene(
            "a tree that is canceled",
            Script.of(
                    SubagentsTest.batch(
                        Mode.PARALLEL, "!once\n!guarded", SubagentsTest.hand("c", "!guarded")))
                .with(Person.CANCELING)),
        supervised("a supervisor with agents side by side", Script.of("delegate !once to a and b")),
        supervised(
            "a supervisor with agents one after the other",
            Script.of("delegate !guarded to a, b and c").with(strategy("sequential"))));
  }

  private static Arguments scene(String name, Script script) {
    Cast cast =
        (log, limits, tools) -> Team.agents(log, new CommandModel(), limits, Policy.USUAL, tools);
    return Arguments.of(name, script, cast);
  }

  private static Arguments supervised(String name, Script script) {
    Cast cast =
        (log, limits, tools) -> {
          var agents = Team.agents(log, new CommandModel(), limits, Policy.USUAL, tools);
          var memory = new Memory(log, new LogHistory(log), limits.loop());
          var parts = new ModelLoop.Parts(memory, new Coordinators(Map.of()), limits);
          var members =
              Stream.of("a", "b", "c")
                  .map(id -> new Member(new AgentTypeId(id), id, "", List.of()))
                  .toList();
          Agent supervisor = new Supervisor(members, new AgentTypeId("a"), null, parts);
          agents.put(World.AGENT, supervisor);
          return agents;
        };
    return Arguments.of(name, script, cast);
  }

  private static Submission.Options strategy(String strategy) {
    return new Submission.Options(null, null, null, null, null, strategy, null);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scenes")
  void wherever_a_server_dies_the_next_one_ends_what_it_began(String name, Script script, Cast cast)
      throws Exception {
    var places = new TreeMap<>(new CrashScene(script, cast, folder).rehearse());
    assertThat(places).containsKeys("submitted", "begun", "model-asked", "turn-durable");
    for (var place : places.entrySet()) {
      for (var countdown = 1; countdown <= place.getValue(); countdown++) {
        var scene = new CrashScene(script, cast, folder);
        scene.die(place.getKey(), countdown);
        scene.live();
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scenes")
  void a_server_may_die_while_it_takes_up_what_another_one_left(
      String name, Script script, Cast cast) throws Exception {
    for (var first : List.of("calls-written", "tool-effect", "after-park", "answered")) {
      for (var second : List.of("begun", "tool-started", "tool-completed", "after-complete")) {
        var scene = new CrashScene(script, cast, folder);
        scene.die(first, 1);
        scene.die(second, 1);
        scene.live();
      }
    }
  }
}
