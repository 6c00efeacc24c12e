package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.model.Model;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Agent;
import dev.parley.task.LogHistory;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool;
import dev.parley.tool.Toolbox;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Agents `worker`, `a`, `b` and `c` that follow commands, have the same tools, and can delegate to
/// each other.
final class TestTeam {

  static final List<AgentTypeId> IDS =
      List.of(TaskTestBed.AGENT, new AgentTypeId("a"), new AgentTypeId("b"), new AgentTypeId("c"));

  private TestTeam() {}

  static TaskTestBed world(
      EventLog log, Path folder, TaskLimits taskLimits, ToolPolicy toolPolicy, Tool... tools) {
    return TaskTestBed.with(
        log, agents(log, new CommandModel(), taskLimits, toolPolicy, tools), folder, taskLimits);
  }

  static TaskTestBed world(EventLog log, Path folder, Tool... tools) {
    return world(log, folder, TaskLimits.DEFAULT, ToolPolicy.DEFAULT, tools);
  }

  static Map<AgentTypeId, Agent> agents(
      EventLog log, Model model, TaskLimits taskLimits, ToolPolicy toolPolicy, Tool... tools) {
    var handing = IDS.stream().map(id -> new AgentTool(id, "")).toList();
    var toolbox = new ArrayList<Tool>(List.of(tools));
    toolbox.addAll(handing);
    toolbox.add(new SubagentsTool(handing));
    var models = new LinkedHashMap<AgentTypeId, Model>();
    IDS.forEach(id -> models.put(id, model));
    var conversationMemory = new ConversationMemory(log, new LogHistory(log), taskLimits.loop());
    var modelLoopDependencies =
        new ModelLoop.ModelLoopDependencies(
            conversationMemory, new ParentAgentQuestions(models), taskLimits);
    var agents = new LinkedHashMap<AgentTypeId, Agent>();
    for (var id : IDS) {
      var type = new ModelAgentType(id, id.value(), "", "", model, Toolbox.of(toolbox), toolPolicy);
      agents.put(id, new ModelLoop(type, modelLoopDependencies));
    }
    return agents;
  }
}
