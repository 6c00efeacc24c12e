package dev.parley.supervisor;

import dev.parley.agent.HistoryCompactor;
import dev.parley.agent.ModelLoop;
import dev.parley.agent.TextCollector;
import dev.parley.model.Model;
import dev.parley.model.ModelReply;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.RoutingStrategy;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.task.Agent;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
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
/// The decision is in the log before any agent acts on it, so that a crash does not change it. The
/// next step depends only on the log: after a wait or a crash the same code continues. While a
/// single agent works, the supervisor's task stays `working`; while several work, it is
/// `waiting-subtask`. It has no thread in either case.
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
  public Optional<TaskOutcome> decide(TaskRun taskRun) throws InterruptedException {
    // A task in the state waiting-subtask must begin to work before it can end.
    if (taskRun.inspect(
        state ->
            state
                .openTask(taskRun.origin().taskId())
                .filter(task -> task.state().waiting())
                .isPresent())) {
      return Optional.empty();
    }
    return step(taskRun, new SupervisorProgress(taskRun.readNewEntries()), false);
  }

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    taskRun.closeBlocks();
    return step(taskRun, new SupervisorProgress(taskRun.readNewEntries()), true).orElseThrow();
  }

  /// The next step, from what the log says: first to decide and delegate, then to wait, in a
  /// sequence to delegate again, and at last to answer. Empty if it needs a model and the task is
  /// not at `work`.
  private Optional<TaskOutcome> step(TaskRun taskRun, SupervisorProgress progress, boolean work)
      throws InterruptedException {
    var decided = progress.decision().orElse(null);
    var historyCompactor = new HistoryCompactor(dependencies.memory());
    if (decided == null && !work && (model != null || historyCompactor.due(taskRun))) {
      return Optional.empty();
    }
    var decision =
        decided != null
            ? decided
            : route(taskRun, work ? historyCompactor.promptParts(taskRun, model) : List.of());
    var subtasks = new SupervisorSubtasks(taskRun, decision, progress);
    try {
      if (progress.subtasks().isEmpty()) {
        subtasks.startFirst(decided == null ? statusMessage(decision) : null);
        taskRun.reachFailPoint("routed");
        return Optional.of(new TaskOutcome.Delegated());
      }
      if (!progress.open().isEmpty()) {
        return Optional.of(subtasks.parked());
      }
      if (subtasks.startNext()) {
        return Optional.of(new TaskOutcome.Delegated());
      }
    } catch (Rejection.Invalid limit) {
      return Optional.of(
          subtasks.failed(ErrorCode.TOOL_FAILED, String.valueOf(limit.getMessage()), false));
    }
    return new SupervisorAnswer(taskRun, decision, progress, model).answer(work);
  }

  private RoutingDecision route(TaskRun taskRun, List<PromptPart> told)
      throws InterruptedException {
    var text = taskRun.created().prompt() == null ? "" : taskRun.created().prompt();
    var routingRequest =
        new RoutingRules.RoutingRequest(text, taskRun.created().taskType(), strategy(taskRun));
    if (model == null) {
      return routingRules.decide(routingRequest, null);
    }
    var prompt =
        new Prompt(instructions(routingRequest), told, List.of(), RoutingDecision.schema(team));
    taskRun.emit(List.of(new InternalLlmCall(1, model.name(), prompt.parts().size(), 0)));
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
}
