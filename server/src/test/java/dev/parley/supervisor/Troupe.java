package dev.parley.supervisor;

import dev.parley.agent.AgentType;
import dev.parley.agent.Coordinators;
import dev.parley.agent.Memory;
import dev.parley.agent.ModelLoop;
import dev.parley.agent.Policy;
import dev.parley.log.EventLog;
import dev.parley.model.Model;
import dev.parley.model.Prompt;
import dev.parley.model.Reply;
import dev.parley.model.Sink;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.task.Agent;
import dev.parley.task.FailPoint;
import dev.parley.task.Limits;
import dev.parley.task.LogHistory;
import dev.parley.task.World;
import dev.parley.tool.Toolbox;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A supervisor with the agents `a`, `b` and `c`, whose answers the test scripts. Records the
/// prompts of each.
final class Troupe {

  /// The answer of a model; null if it fails.
  interface Line {
    @Nullable String say(Prompt prompt) throws InterruptedException;
  }

  static final List<Member> MEMBERS =
      List.of(
          new Member(
              new AgentTypeId("a"), "Alice", "Writes code and programs.", List.of("code_debug")),
          new Member(
              new AgentTypeId("b"), "Bob", "Analyses data and tables.", List.of("data_analysis")),
          new Member(new AgentTypeId("c"), "Carol", "Tells jokes.", List.of()));

  final Map<String, List<Prompt>> asked = new LinkedHashMap<>();
  private final Map<String, Line> lines = new LinkedHashMap<>();
  private final Map<String, FinishReason> endings = new LinkedHashMap<>();

  Troupe() {
    for (var name : List.of("decider", "a", "b", "c")) {
      asked.put(name, new CopyOnWriteArrayList<>());
      lines.put(name, _ -> "I am " + name);
    }
  }

  /// From now on this model answers like that.
  Troupe line(String name, Line line) {
    lines.put(name, line);
    return this;
  }

  /// From now on the answers of this model have this finish reason.
  Troupe ending(String name, FinishReason reason) {
    endings.put(name, reason);
    return this;
  }

  /// The supervisor's model decides this, and combines the results of several agents into
  /// `combined`.
  Troupe decision(String decision) {
    return line("decider", prompt -> prompt.answerSchema() == null ? "combined" : decision);
  }

  /// A decision as a model writes it; agent number n gets task number n.
  static String decision(String strategy, String... agents) {
    var json = Json.object().put("strategy", strategy);
    var list = json.putArray("agents");
    for (var agent : agents) {
      list.addObject()
          .put("agentId", agent)
          .put("agentName", agent)
          .put("taskDescription", "part " + list.size())
          .put("priority", list.size());
    }
    return json.put("reasoning", "because").put("confidence", 0.75).toString();
  }

  World world(EventLog log, Path folder, boolean deciding) {
    return world(log, folder, deciding, FailPoint.NONE);
  }

  World world(EventLog log, Path folder, boolean deciding, FailPoint failPoint) {
    var limits = Limits.DEFAULT;
    var memory = new Memory(log, new LogHistory(log), limits.loop());
    var parts = new ModelLoop.Parts(memory, new Coordinators(Map.of()), limits);
    var agents = new LinkedHashMap<AgentTypeId, Agent>();
    Stream.of("a", "b", "c").forEach(id -> agents.put(new AgentTypeId(id), loop(id, parts)));
    var model = deciding ? new Actor("decider") : null;
    agents.put(World.AGENT, new Supervisor(MEMBERS, new AgentTypeId("c"), model, parts));
    return World.with(log, agents, folder, limits, failPoint);
  }

  private ModelLoop loop(String id, ModelLoop.Parts parts) {
    var type =
        new AgentType(
            new AgentTypeId(id), id, "", "", new Actor(id), Toolbox.of(List.of()), Policy.USUAL);
    return new ModelLoop(type, parts);
  }

  private final class Actor implements Model {
    private final String name;

    Actor(String name) {
      this.name = name;
    }

    @Override
    public String name() {
      return "model-" + name;
    }

    @Override
    public Reply ask(Prompt prompt, Sink sink) throws InterruptedException {
      asked.get(name).add(prompt);
      var text = lines.get(name).say(prompt);
      if (text == null) {
        return new Reply.Failed(ErrorCode.MODEL_ERROR, name + " cannot", false);
      }
      sink.text(text);
      var usage = new Usage(name(), 10, 5, null, null, new BigDecimal("0.25"));
      var reason = endings.getOrDefault(name, FinishReason.STOP);
      return new Reply.Answered(reason, List.of(), usage, null);
    }
  }

  /// The decision in the metadata of a task's end or status.
  static ObjectNode routing(ObjectNode metadata) {
    return (ObjectNode) metadata.path(Supervisor.ROUTING);
  }
}
