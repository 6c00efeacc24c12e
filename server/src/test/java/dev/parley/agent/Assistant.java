package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.model.Model;
import dev.parley.model.OfflineModel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Agent;
import dev.parley.task.Limits;
import dev.parley.task.LogHistory;
import dev.parley.task.World;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.Tool;
import dev.parley.tool.Toolbox;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// The agent that exists without any configuration, for tests.
final class Assistant {

  private Assistant() {}

  static World world(Path folder) {
    return world(World.newLog(), folder);
  }

  static World world(EventLog log, Path folder) {
    return World.with(log, offline(log), folder, World.limits(10, 10, Duration.ofMillis(100)));
  }

  static World world(Model model, List<Tool> tools, Path folder) {
    var log = World.newLog();
    return World.with(log, agent(log, model, tools), folder, Limits.DEFAULT);
  }

  static Agent offline(EventLog log) {
    return agent(
        log,
        new OfflineModel(World.SOURCES.ids(), OfflineModel.PACE),
        BuiltInTools.all(World.SOURCES.clock()));
  }

  private static Agent agent(EventLog log, Model model, List<Tool> tools) {
    return loop(log, World.AGENT, model, tools, Policy.USUAL, Limits.DEFAULT);
  }

  static ModelLoop loop(
      EventLog log, AgentTypeId id, Model model, List<Tool> tools, Policy policy, Limits limits) {
    var memory = new Memory(log, new LogHistory(log), limits.loop());
    var type = new AgentType(id, id.value(), "", "Be helpful.", model, Toolbox.of(tools), policy);
    var coordinators = new Coordinators(Map.of(id, model));
    return new ModelLoop(type, new ModelLoop.Parts(memory, coordinators, limits));
  }
}
