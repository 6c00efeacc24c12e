package dev.parley.supervisor;

import dev.parley.agent.AgentTool;
import dev.parley.agent.HistoryCompactor;
import dev.parley.agent.ModelAgentType;
import dev.parley.agent.ModelLoop;
import dev.parley.agent.SubagentsTool;
import dev.parley.agent.TextCollector;
import dev.parley.agent.ToolPolicy;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.RoutingStrategy;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Agent;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import dev.parley.tool.Tool;
import dev.parley.tool.Toolbox;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The default agent for messages that name none: it decides which agents act and how, delegates to
/// them, and combines their results into one answer.
///
/// The decision is in the log before any agent acts on it, so that a crash does not change it.
public final class Supervisor implements Agent {

  /// The id of the agent type.
  public static final AgentTypeId ID = new AgentTypeId("supervisor");

  private static final int AGENTS_MAX = 16;
  private static final String INSTRUCTIONS =
      """
      You decide which agents act on a message, and how they work together. Answer with one JSON object.
      Strategies: single (one agent does all), delegate (one agent, which may hand work on), parallel
      (several at once, each with a part of its own), sequential (one after the other, each with the
      results before it). Use as few agents as will do. Say in each taskDescription all that the agent
      needs. priority 1 acts first. The agents:
      """;

  private final Map<AgentTypeId, TeamAgent> team;
  private final @Nullable Model model;
  private final RoutingRules routingRules;
  private final ModelLoop.ModelLoopDependencies dependencies;

  /// `model` is null if rules decide; `standard` is the fallback agent.
  public Supervisor(
      List<TeamAgent> team,
      AgentTypeId standard,
      @Nullable Model model,
      ModelLoop.ModelLoopDependencies modelLoopDependencies) {
    this.team =
        team.stream()
            .collect(
                Collectors.toMap(TeamAgent::id, m -> m, (first, _) -> first, LinkedHashMap::new));
    this.model = model;
    this.routingRules = new RoutingRules(this.team, standard);
    this.dependencies = modelLoopDependencies;
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public boolean forwardsMessages() {
    return true;
  }

  @Override
  public Optional<String> model() {
    return Optional.ofNullable(model).map(Model::name);
  }

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    var routingDecision = recordedDecision(taskRun).orElse(null);
    if (routingDecision == null) {
      routingDecision =
          decide(taskRun, new HistoryCompactor(dependencies.memory()).promptParts(taskRun, model));
      var metadata = StatusFacts.ofRouting(routingDecision.json());
      taskRun.emit(
          List.of(new TaskStatus(TaskState.WORKING, statusMessage(routingDecision), metadata)));
      taskRun.reachFailPoint("routed");
    }
    return switch (loop(taskRun, routingDecision).work(taskRun)) {
      case TaskOutcome.Completed completed ->
          SupervisorResults.outcome(taskRun, routingDecision, completed);
      case TaskOutcome.Failed failed -> SupervisorResults.outcome(taskRun, routingDecision, failed);
      case TaskOutcome.Parked parked -> parked;
    };
  }

  private static Optional<RoutingDecision> recordedDecision(TaskRun taskRun) {
    return taskRun
        .findEntries(
            entry ->
                entry.event() instanceof TaskStatus status
                    && isRoutingStatus(taskRun, entry.taskId(), status))
        .stream()
        .findFirst()
        .flatMap(entry -> ((TaskStatus) entry.event()).facts().routing())
        .map(routing -> RoutingDecision.read(routing.json()));
  }

  private static boolean isRoutingStatus(
      TaskRun taskRun, @Nullable TaskId task, TaskStatus status) {
    return taskRun.origin().taskId().equals(task) && status.facts().routing().isPresent();
  }

  private RoutingDecision decide(TaskRun taskRun, List<PromptPart> told)
      throws InterruptedException {
    var text = taskRun.created().prompt() == null ? "" : taskRun.created().prompt();
    var routingRequest =
        new RoutingRules.RoutingRequest(text, taskRun.created().taskType(), strategy(taskRun));
    if (model == null) {
      return routingRules.decide(routingRequest, null);
    }
    var prompt =
        new Prompt(instructions(routingRequest), told, List.of(), RoutingDecision.schema(team));
    var said = TextCollector.of(taskRun, model);
    var modelReply = model.ask(prompt, said);
    said.reportUsage(modelReply);
    if (modelReply instanceof ModelReply.ModelError modelError) {
      return routingRules.decide(
          routingRequest, "the model gave no decision: " + modelError.message());
    }
    try {
      return read(said.text(), routingRequest);
    } catch (Rejection.Invalid unusable) {
      return routingRules.decide(
          routingRequest, "the model's decision cannot be used: " + unusable.getMessage());
    }
  }

  private static @Nullable RoutingStrategy strategy(TaskRun taskRun) {
    return taskRun.created().facts().strategy().orElse(null);
  }

  private RoutingDecision read(String decision, RoutingRules.RoutingRequest routingRequest) {
    var json = Json.read(decision.getBytes(StandardCharsets.UTF_8), ObjectNode.class);
    var routingDecision = RoutingDecision.parse(json, team, routingRequest.text(), AGENTS_MAX);
    return routingRequest.strategy() == null
            || routingRequest.strategy() == routingDecision.strategy()
        ? routingDecision
        : routingDecision.with(routingRequest.strategy());
  }

  private String instructions(RoutingRules.RoutingRequest routingRequest) {
    var agents =
        team.values().stream()
            .map(
                teamAgent ->
                    "- "
                        + teamAgent.id()
                        + " ("
                        + teamAgent.name()
                        + "): "
                        + teamAgent.description()
                        + (teamAgent.taskTypes().isEmpty()
                            ? ""
                            : " Task types: " + String.join(", ", teamAgent.taskTypes())))
            .collect(Collectors.joining("\n"));
    return INSTRUCTIONS
        + agents
        + (routingRequest.taskType() == null
            ? ""
            : "\n\nThe task's type: " + routingRequest.taskType())
        + (routingRequest.strategy() == null
            ? ""
            : "\n\nThe strategy must be " + routingRequest.strategy().wire());
  }

  private static String statusMessage(RoutingDecision routingDecision) {
    var names =
        routingDecision.agents().stream()
            .map(RoutingDecision.AgentChoice::agentName)
            .collect(Collectors.joining(", "));
    var note =
        routingDecision.fallback() == null ? "" : " (by rules: " + routingDecision.fallback() + ")";
    return routingDecision.strategy().wire() + ": " + names + note;
  }

  /// The loop that delegates and waits: its model only returns the decision.
  private ModelLoop loop(TaskRun taskRun, RoutingDecision routingDecision) {
    var tools =
        team.values().stream()
            .map(teamAgent -> new AgentTool(teamAgent.id(), teamAgent.description()))
            .toList();
    List<Tool> toolbox = List.of(new SubagentsTool(tools));
    var routingModel = new RoutingModel(taskRun, routingDecision, model);
    var type =
        new ModelAgentType(
            ID, "Supervisor", "", "", routingModel, Toolbox.of(toolbox), ToolPolicy.DEFAULT);
    return new ModelLoop(type, dependencies, taskRun.created().facts().ofDelegate());
  }
}
