package dev.parley.server;

import dev.parley.agent.AgentType;
import dev.parley.agent.Memory;
import dev.parley.agent.ModelLoop;
import dev.parley.door.Metrics;
import dev.parley.log.EventLog;
import dev.parley.log.SqliteLog;
import dev.parley.log.Tuning;
import dev.parley.model.Model;
import dev.parley.model.OfflineModel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Agent;
import dev.parley.task.Agents;
import dev.parley.task.History;
import dev.parley.task.Limits;
import dev.parley.task.Tasks;
import dev.parley.task.Workspaces;
import dev.parley.tool.BuiltInTools;
import dev.parley.tool.Credentials;
import dev.parley.tool.Shell;
import dev.parley.tool.Tool;
import dev.parley.tool.process.Children;
import dev.parley.view.Views;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/// Makes the parts that a configuration asks for: the log, the views, the agents and their tasks.
final class Assembly {

  private static final String INSTRUCTIONS =
      "You are a helpful assistant. Use tools where they help, and say plainly what you found.";

  private final Config config;
  private final Server.Sources sources;
  private final Limits limits;
  private final Children children;
  private final List<Tool> builtIn;

  Assembly(Config config, Server.Sources sources) {
    this.config = config;
    this.sources = sources;
    this.limits = limits(config.work());
    this.children =
        new Children(config.data().resolve("children"), () -> sources.ids().get().toString());
    this.builtIn =
        BuiltInTools.all(
            new BuiltInTools.Parts(
                sources.clock(),
                children,
                Shell.environment(System.getenv(), Set.of()),
                Set.of(),
                Credentials.none()));
  }

  /// Opens everything; what was opened is closed again if something cannot be.
  Server.Parts open() {
    var log =
        SqliteLog.open(
            new SqliteLog.Parts(
                config.data(), sources.clock(), new SecureRandom(), Tuning.DEFAULT));
    try {
      // The folder is ours now, and nothing of ours runs yet.
      children.endLeftovers();
      return on(log);
    } catch (RuntimeException failed) {
      log.close();
      throw failed;
    }
  }

  /// The parts that stand on a log.
  Server.Parts on(EventLog store) {
    var metrics = new Metrics();
    var log = new MeteredLog(store, metrics);
    var views = new Views(config.data().resolve("views.db"), log);
    return new Server.Parts(log, views, tasks(log, views), metrics);
  }

  private Tasks tasks(EventLog log, Views views) {
    var history = History.of(views);
    var memory = new Memory(log, history, limits);
    Map<AgentTypeId, Agent> agents = new LinkedHashMap<>();
    for (var agent : config.agents()) {
      agents.put(agent.id(), new ModelLoop(type(agent), memory, limits.maxTurns()));
    }
    var setup =
        new Tasks.Setup(
            new Agents(agents, config.standardAgent()),
            new Workspaces(config.workspaces()),
            limits);
    return new Tasks(log, history, setup, taskSources());
  }

  private AgentType type(Config.Agent agent) {
    return new AgentType(
        agent.id(),
        agent.name(),
        Optional.ofNullable(agent.description()).orElse(""),
        Optional.ofNullable(agent.instructions()).orElse(INSTRUCTIONS),
        model(agent.model()),
        tools(agent.tools()));
  }

  private Model model(String name) {
    return switch (Objects.requireNonNull(config.models().get(name)).provider()) {
      case OFFLINE -> new OfflineModel(() -> sources.ids().get().toString(), OfflineModel.PACE);
    };
  }

  private List<Tool> tools(List<String> groups) {
    // Until a person can be asked, what needs one does not run.
    return BuiltInTools.named(groups, builtIn).stream()
        .filter(tool -> tool.permission() == Tool.Permission.ALLOW)
        .toList();
  }

  private dev.parley.task.Sources taskSources() {
    return new dev.parley.task.Sources(sources.clock(), () -> sources.ids().get().toString());
  }

  private static Limits limits(Config.Work work) {
    var usual = Limits.DEFAULT;
    return new Limits(
        Optional.ofNullable(work.taskTimeout()).orElse(usual.taskTimeout()),
        Optional.ofNullable(work.maxTurns()).orElse(usual.maxTurns()),
        Optional.ofNullable(work.maxConcurrentTasks()).orElse(usual.maxConcurrentTasks()),
        Optional.ofNullable(work.maxQueuedPerContext()).orElse(usual.maxQueuedPerContext()),
        usual.maxQueuedContexts(),
        usual.maxContentLength(),
        usual.stopGrace(),
        usual.historyMessages(),
        usual.historyCharacters());
  }
}
