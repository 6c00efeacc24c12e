package dev.parley.supervisor;

import dev.parley.agent.AgentTool;
import dev.parley.agent.AgentType;
import dev.parley.agent.ClientTools;
import dev.parley.agent.Collected;
import dev.parley.agent.Compactor;
import dev.parley.agent.Grounding;
import dev.parley.agent.Memory;
import dev.parley.agent.ModelLoop;
import dev.parley.agent.Policy;
import dev.parley.agent.SubagentsTool;
import dev.parley.model.Model;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.Part;
import dev.parley.model.Reply;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.WireName;
import dev.parley.task.Agent;
import dev.parley.task.Outcome;
import dev.parley.task.Run;
import dev.parley.task.Strategy;
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

  /// In the metadata of a status: the decision.
  static final String ROUTING = "routing";

  private static final int AGENTS_MAX = 16;
  private static final String INSTRUCTIONS =
      """
      You decide which agents act on a message, and how they work together. Answer with one JSON object.
      Strategies: single (one agent does all), delegate (one agent, which may hand work on), parallel
      (several at once, each with a part of its own), sequential (one after the other, each with the
      results before it). Use as few agents as will do. Say in each taskDescription all that the agent
      needs. priority 1 acts first. The agents:
      """;

  private final Map<AgentTypeId, Member> team;
  private final @Nullable Model model;
  private final Rules rules;
  private final ModelLoop.Parts parts;

  /// `model` is null if rules decide; `standard` is the fallback agent.
  public Supervisor(
      List<Member> team, AgentTypeId standard, @Nullable Model model, ModelLoop.Parts parts) {
    this.team =
        team.stream()
            .collect(Collectors.toMap(Member::id, m -> m, (first, _) -> first, LinkedHashMap::new));
    this.model = model;
    this.rules = new Rules(this.team, standard);
    this.parts = parts;
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public boolean passesOn() {
    return true;
  }

  @Override
  public Optional<String> model() {
    return Optional.ofNullable(model).map(Model::name);
  }

  @Override
  public Outcome work(Run run) throws InterruptedException {
    var routing = decided(run).orElse(null);
    if (routing == null) {
      routing = decide(run, new Compactor(parts.memory()).recall(run, model));
      var metadata = Json.object();
      metadata.set(ROUTING, routing.json());
      run.emit(List.of(new TaskStatus(TaskState.WORKING, told(routing), metadata)));
      run.reach("routed");
    }
    var outcome = loop(run, routing).work(run);
    return outcome instanceof Outcome.Completed completed
        ? Results.of(run, routing, completed)
        : outcome;
  }

  private static Optional<Routing> decided(Run run) {
    return run
        .look(
            entry ->
                entry.event() instanceof TaskStatus status && routes(run, entry.taskId(), status))
        .stream()
        .findFirst()
        .map(entry -> ((TaskStatus) entry.event()).metadata())
        .map(metadata -> Routing.read(metadata.path(ROUTING)));
  }

  private static boolean routes(Run run, @Nullable TaskId task, TaskStatus status) {
    return run.origin().taskId().equals(task)
        && status.metadata() != null
        && status.metadata().has(ROUTING);
  }

  private Routing decide(Run run, List<Part> told) throws InterruptedException {
    var text = run.created().prompt() == null ? "" : run.created().prompt();
    var request = new Rules.Request(text, run.created().taskType(), strategy(run));
    if (model == null) {
      return rules.decide(request, null);
    }
    var prompt = new Prompt(instructions(request), told, List.of(), Routing.schema(team));
    var said = Collected.of(run, model);
    var reply = model.ask(prompt, said);
    said.used(reply);
    if (reply instanceof Reply.Failed failed) {
      return rules.decide(request, "the model gave no decision: " + failed.message());
    }
    try {
      return read(said.text(), request);
    } catch (Rejection.Invalid unusable) {
      return rules.decide(request, "the model's decision cannot be used: " + unusable.getMessage());
    }
  }

  private static @Nullable Strategy strategy(Run run) {
    var metadata = run.created().metadata();
    var wanted = metadata == null ? "" : metadata.path("strategy").asString("");
    return wanted.isEmpty() ? null : WireName.parse(Strategy.class, "strategy", wanted);
  }

  private Routing read(String decision, Rules.Request request) {
    var json = Json.read(decision.getBytes(StandardCharsets.UTF_8), ObjectNode.class);
    var routing = Routing.parse(json, team, request.text(), AGENTS_MAX);
    return request.strategy() == null || request.strategy() == routing.strategy()
        ? routing
        : routing.with(request.strategy());
  }

  private String instructions(Rules.Request request) {
    var agents =
        team.values().stream()
            .map(
                member ->
                    "- "
                        + member.id()
                        + " ("
                        + member.name()
                        + "): "
                        + member.description()
                        + (member.taskTypes().isEmpty()
                            ? ""
                            : " Task types: " + String.join(", ", member.taskTypes())))
            .collect(Collectors.joining("\n"));
    return INSTRUCTIONS
        + agents
        + (request.taskType() == null ? "" : "\n\nThe task's type: " + request.taskType())
        + (request.strategy() == null
            ? ""
            : "\n\nThe strategy must be " + request.strategy().wire());
  }

  private static String told(Routing routing) {
    var names =
        routing.agents().stream().map(Routing.Choice::agentName).collect(Collectors.joining(", "));
    var note = routing.fallback() == null ? "" : " (by rules: " + routing.fallback() + ")";
    return routing.strategy().wire() + ": " + names + note;
  }

  /// The loop that delegates and waits: its model only returns the decision.
  private ModelLoop loop(Run run, Routing routing) {
    var tools =
        team.values().stream()
            .map(member -> new AgentTool(member.id(), member.description()))
            .toList();
    List<Tool> toolbox = List.of(new SubagentsTool(tools));
    var dispatcher = new Dispatcher(run, routing, model);
    var type =
        new AgentType(ID, "Supervisor", "", "", dispatcher, Toolbox.of(toolbox), Policy.USUAL);
    return new ModelLoop(type, parts, handedOn(run));
  }

  /// The metadata of the subtasks: they get the supervisor's history, client tools and grounding.
  private static ObjectNode handedOn(Run run) {
    var metadata = Json.object().put(Memory.HISTORY, true);
    var own = run.created().metadata();
    if (own != null) {
      for (var key : List.of(ClientTools.CLIENT_TOOLS, Grounding.KEY)) {
        if (own.has(key)) {
          metadata.set(key, own.get(key));
        }
      }
    }
    return metadata;
  }
}
