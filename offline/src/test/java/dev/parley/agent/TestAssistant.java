package dev.parley.agent;

import dev.parley.log.EventLog;
import dev.parley.model.Model;
import dev.parley.offline.OfflineModel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.runtime.Time;
import dev.parley.task.Agent;
import dev.parley.task.LogHistory;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.Tool;
import dev.parley.tool.Toolbox;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// The agent that exists without any configuration, for tests.
final class TestAssistant {

  private TestAssistant() {}

  static TaskTestBed world(Path folder) {
    return world(TaskTestBed.newLog(), folder);
  }

  static TaskTestBed world(EventLog log, Path folder) {
    return world(log, folder, TaskTestBed.SOURCES.time());
  }

  /// The same, with another time for the pauses of the model.
  static TaskTestBed world(EventLog log, Path folder, Time modelTime) {
    return TaskTestBed.with(
        log, offline(log, modelTime), folder, TaskTestBed.limits(10, 10, Duration.ofSeconds(20)));
  }

  static TaskTestBed world(Model model, List<Tool> tools, Path folder) {
    var log = TaskTestBed.newLog();
    return TaskTestBed.with(log, agent(log, model, tools), folder, TaskLimits.DEFAULT);
  }

  static Agent offline(EventLog log) {
    return offline(log, TaskTestBed.SOURCES.time());
  }

  private static Agent offline(EventLog log, Time modelTime) {
    return agent(
        log,
        new OfflineModel(TaskTestBed.SOURCES.ids(), OfflineModel.PACE, modelTime),
        BuiltInTools.all(TaskTestBed.SOURCES.time()));
  }

  private static Agent agent(EventLog log, Model model, List<Tool> tools) {
    return loop(log, TaskTestBed.AGENT, model, tools, ToolPolicy.DEFAULT, TaskLimits.DEFAULT);
  }

  static ModelLoop loop(
      EventLog log,
      AgentTypeId id,
      Model model,
      List<Tool> tools,
      ToolPolicy toolPolicy,
      TaskLimits taskLimits) {
    var conversationMemory = new ConversationMemory(log, new LogHistory(log), taskLimits.loop());
    var type =
        new ModelAgentType(id, id.value(), "", "Be helpful.", model, Toolbox.of(tools), toolPolicy);
    var parentAgentQuestions = new ParentAgentQuestions(Map.of(id, model));
    return new ModelLoop(
        type,
        new ModelLoop.ModelLoopDependencies(conversationMemory, parentAgentQuestions, taskLimits));
  }
}
