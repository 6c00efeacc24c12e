package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.model.Model;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Agent;
import dev.parley.task.Limits;
import dev.parley.task.LogHistory;
import dev.parley.task.World;
import dev.parley.tool.Tool;
import dev.parley.tool.Toolbox;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Agents `worker`, `a`, `b` and `c` that follow commands, have the same tools, and can delegate to
/// each other.
final class Team {

  static final List<AgentTypeId> IDS =
      List.of(World.AGENT, new AgentTypeId("a"), new AgentTypeId("b"), new AgentTypeId("c"));

  private Team() {}

  static World world(EventLog log, Path folder, Limits limits, Policy policy, Tool... tools) {
    return World.with(log, agents(log, new CommandModel(), limits, policy, tools), folder, limits);
  }

  static World world(EventLog log, Path folder, Tool... tools) {
    return world(log, folder, Limits.DEFAULT, Policy.USUAL, tools);
  }

  static Map<AgentTypeId, Agent> agents(
      EventLog log, Model model, Limits limits, Policy policy, Tool... tools) {
    var handing = IDS.stream().map(id -> new AgentTool(id, "")).toList();
    var toolbox = new ArrayList<Tool>(List.of(tools));
    toolbox.addAll(handing);
    toolbox.add(new SubagentsTool(handing));
    var models = new LinkedHashMap<AgentTypeId, Model>();
    IDS.forEach(id -> models.put(id, model));
    var memory = new Memory(log, new LogHistory(log), limits.loop());
    var parts = new ModelLoop.Parts(memory, new Coordinators(models), limits);
    var agents = new LinkedHashMap<AgentTypeId, Agent>();
    for (var id : IDS) {
      var type = new AgentType(id, id.value(), "", "", model, Toolbox.of(toolbox), policy);
      agents.put(id, new ModelLoop(type, parts));
    }
    return agents;
  }
}
