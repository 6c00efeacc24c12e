package dev.parley.supervisor;

import dev.parley.agent.ConversationMemory;
import dev.parley.agent.ModelAgentType;
import dev.parley.agent.ModelLoop;
import dev.parley.agent.ParentAgentQuestions;
import dev.parley.agent.ToolPolicy;
import dev.parley.log.EventLog;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.ModelSink;
import dev.parley.model.Prompt;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.task.Agent;
import dev.parley.task.FailPoint;
import dev.parley.task.LogHistory;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
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
final class SupervisorTestBed {

  /// The answer of a model; null if it fails.
  interface ScriptedAnswer {
    @Nullable String answer(Prompt prompt) throws InterruptedException;
  }

  static final List<TeamAgent> MEMBERS =
      List.of(
          new TeamAgent(
              new AgentTypeId("a"), "Alice", "Writes code and programs.", List.of("code_debug")),
          new TeamAgent(
              new AgentTypeId("b"), "Bob", "Analyses data and tables.", List.of("data_analysis")),
          new TeamAgent(new AgentTypeId("c"), "Carol", "Tells jokes.", List.of()));

  final Map<String, List<Prompt>> asked = new LinkedHashMap<>();
  private final Map<String, ScriptedAnswer> scriptedAnswers = new LinkedHashMap<>();
  private final Map<String, FinishReason> finishReasons = new LinkedHashMap<>();

  SupervisorTestBed() {
    for (var name : List.of("decider", "a", "b", "c")) {
      asked.put(name, new CopyOnWriteArrayList<>());
      scriptedAnswers.put(name, _ -> "I am " + name);
    }
  }

  /// From now on this model answers like that.
  SupervisorTestBed answering(String name, ScriptedAnswer scriptedAnswer) {
    scriptedAnswers.put(name, scriptedAnswer);
    return this;
  }

  /// From now on the answers of this model have this finish reason.
  SupervisorTestBed finishing(String name, FinishReason reason) {
    finishReasons.put(name, reason);
    return this;
  }

  /// The supervisor's model decides this, and combines the results of several agents into
  /// `combined`.
  SupervisorTestBed decision(String decision) {
    return answering("decider", prompt -> prompt.answerSchema() == null ? "combined" : decision);
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

  TaskTestBed world(EventLog log, Path folder, boolean deciding) {
    return world(log, folder, deciding, FailPoint.NONE);
  }

  TaskTestBed world(EventLog log, Path folder, boolean deciding, FailPoint failPoint) {
    var taskLimits = TaskLimits.DEFAULT;
    var conversationMemory = new ConversationMemory(log, new LogHistory(log), taskLimits.loop());
    var modelLoopDependencies =
        new ModelLoop.ModelLoopDependencies(
            conversationMemory, new ParentAgentQuestions(Map.of()), taskLimits);
    var agents = new LinkedHashMap<AgentTypeId, Agent>();
    Stream.of("a", "b", "c")
        .forEach(id -> agents.put(new AgentTypeId(id), loop(id, modelLoopDependencies)));
    var model = deciding ? new ScriptedAgentModel("decider") : null;
    agents.put(
        TaskTestBed.AGENT,
        new Supervisor(MEMBERS, new AgentTypeId("c"), model, modelLoopDependencies));
    return TaskTestBed.with(log, agents, folder, taskLimits, failPoint);
  }

  private ModelLoop loop(String id, ModelLoop.ModelLoopDependencies modelLoopDependencies) {
    var type =
        new ModelAgentType(
            new AgentTypeId(id),
            id,
            "",
            "",
            new ScriptedAgentModel(id),
            Toolbox.of(List.of()),
            ToolPolicy.DEFAULT);
    return new ModelLoop(type, modelLoopDependencies);
  }

  private final class ScriptedAgentModel implements Model {
    private final String name;

    ScriptedAgentModel(String name) {
      this.name = name;
    }

    @Override
    public String name() {
      return "model-" + name;
    }

    @Override
    public ModelReply ask(Prompt prompt, ModelSink modelSink) throws InterruptedException {
      asked.get(name).add(prompt);
      var text = scriptedAnswers.get(name).answer(prompt);
      if (text == null) {
        return new ModelReply.ModelError(ErrorCode.MODEL_ERROR, name + " cannot", false);
      }
      modelSink.text(text);
      var usage = new Usage(name(), 10, 5, null, null, new BigDecimal("0.25"));
      var reason = finishReasons.getOrDefault(name, FinishReason.STOP);
      return new ModelReply.ModelAnswer(reason, List.of(), usage, null);
    }
  }

  /// The decision in the metadata of a task's end or status.
  static ObjectNode routing(ObjectNode metadata) {
    return (ObjectNode) metadata.path("routing");
  }
}
