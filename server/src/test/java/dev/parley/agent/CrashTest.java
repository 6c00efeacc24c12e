package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agent.CrashScenario.AnsweringPerson;
import dev.parley.agent.CrashScenario.CrashAgentFactory;
import dev.parley.agent.CrashScenario.CrashScript;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.supervisor.Supervisor;
import dev.parley.supervisor.TeamAgent;
import dev.parley.task.Agent;
import dev.parley.task.LogHistory;
import dev.parley.task.Submission;
import dev.parley.task.TaskTestBed;
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
  void silenceLogs() {
    RUNNER.setLevel(Level.OFF);
  }

  @AfterEach
  void restoreLogs() {
    RUNNER.setLevel(null);
  }

  static Stream<Arguments> scenarios() {
    return Stream.of(
        scenario("a pure tool", CrashScript.of("!pure {\"n\":1}")),
        scenario("an idempotent tool", CrashScript.of("!idempotent {\"n\":1}")),
        scenario("a tool that acts at most once", CrashScript.of("!once {\"n\":1}")),
        scenario("a tool that is asked about, and done again", CrashScript.of("!doubtful")),
        scenario(
            "a tool that is asked about, and not done again",
            CrashScript.of("!doubtful").with(AnsweringPerson.CAREFUL)),
        scenario("a tool that needs approval", CrashScript.of("!guarded {\"n\":1}")),
        scenario(
            "tools side by side",
            CrashScript.of("!once {\"n\":1}\n!once {\"n\":2}\n!idempotent\n!doubtful\n!guarded")),
        scenario(
            "tools one after the other",
            CrashScript.of("!solo {\"n\":1}\n!pure\n!solo {\"n\":2}\n!once")),
        scenario(
            "a question to a person",
            CrashScript.of("!ask {\"q\":\"colour?\",\"user\":true}\n!once")),
        scenario(
            "a batch side by side",
            CrashScript.of(
                SubagentsTest.batch(Mode.PARALLEL, "!once", "!guarded", "!doubtful") + "\n!once")),
        scenario(
            "a batch one after the other",
            CrashScript.of(SubagentsTest.batch(Mode.SERIAL, "!once", "!idempotent", "!guarded"))),
        scenario(
            "a batch of which one fails",
            CrashScript.of(SubagentsTest.batch(Mode.SERIAL, "!once", "fail", "!once"))),
        scenario(
            "sub-agents below each other",
            CrashScript.of(
                SubagentsTest.hand(
                    "a",
                    SubagentsTest.hand("b", "!once\n" + SubagentsTest.hand("c", "!guarded"))))),
        scenario(
            "a question that the agent above can answer",
            CrashScript.of(
                "the colour is green\n"
                    + SubagentsTest.hand("a", "!ask {\"q\":\"colour?\"}\n!once"))),
        scenario(
            "a question that nobody above can answer",
            CrashScript.of(SubagentsTest.hand("a", "!ask {\"q\":\"colour?\"}\n!once"))),
        scenario(
            "a tree that is canceled",
            CrashScript.of(
                    SubagentsTest.batch(
                        Mode.PARALLEL, "!once\n!guarded", SubagentsTest.hand("c", "!guarded")))
                .with(AnsweringPerson.CANCELING)),
        supervised(
            "a supervisor with agents side by side", CrashScript.of("delegate !once to a and b")),
        supervised(
            "a supervisor with agents one after the other",
            CrashScript.of("delegate !guarded to a, b and c").with(strategy("sequential"))));
  }

  private static Arguments scenario(String name, CrashScript crashScript) {
    CrashAgentFactory crashAgentFactory =
        (log, taskLimits, tools) ->
            TestTeam.agents(log, new CommandModel(), taskLimits, ToolPolicy.DEFAULT, tools);
    return Arguments.of(name, crashScript, crashAgentFactory);
  }

  private static Arguments supervised(String name, CrashScript crashScript) {
    CrashAgentFactory crashAgentFactory =
        (log, taskLimits, tools) -> {
          var agents =
              TestTeam.agents(log, new CommandModel(), taskLimits, ToolPolicy.DEFAULT, tools);
          var conversationMemory =
              new ConversationMemory(log, new LogHistory(log), taskLimits.loop());
          var modelLoopDependencies =
              new ModelLoop.ModelLoopDependencies(
                  conversationMemory, new ParentAgentQuestions(Map.of()), taskLimits);
          var members =
              Stream.of("a", "b", "c")
                  .map(id -> new TeamAgent(new AgentTypeId(id), id, "", List.of()))
                  .toList();
          Agent supervisor =
              new Supervisor(members, new AgentTypeId("a"), null, modelLoopDependencies);
          agents.put(TaskTestBed.AGENT, supervisor);
          return agents;
        };
    return Arguments.of(name, crashScript, crashAgentFactory);
  }

  private static Submission.TaskOptions strategy(String strategy) {
    return new Submission.TaskOptions(null, null, null, null, null, strategy, null);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scenarios")
  void wherever_a_server_dies_the_next_one_ends_what_it_began(
      String name, CrashScript crashScript, CrashAgentFactory crashAgentFactory) throws Exception {
    var places =
        new TreeMap<>(new CrashScenario(crashScript, crashAgentFactory, folder).runWithoutCrash());
    assertThat(places).containsKeys("submitted", "begun", "model-asked", "turn-durable");
    for (var place : places.entrySet()) {
      for (var countdown = 1; countdown <= place.getValue(); countdown++) {
        var scene = new CrashScenario(crashScript, crashAgentFactory, folder);
        scene.runUntilCrash(place.getKey(), countdown);
        scene.runToEnd();
      }
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scenarios")
  void a_server_may_die_while_it_takes_up_what_another_one_left(
      String name, CrashScript crashScript, CrashAgentFactory crashAgentFactory) throws Exception {
    for (var first : List.of("calls-written", "tool-effect", "after-park", "answered")) {
      for (var second : List.of("begun", "tool-started", "tool-completed", "after-complete")) {
        var scene = new CrashScenario(crashScript, crashAgentFactory, folder);
        scene.runUntilCrash(first, 1);
        scene.runUntilCrash(second, 1);
        scene.runToEnd();
      }
    }
  }
}
