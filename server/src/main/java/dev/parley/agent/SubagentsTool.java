package dev.parley.agent;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.WireName;
import dev.parley.tool.ArgumentsSchema;
import dev.parley.tool.ToolResult;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// `subagents`: delegates tasks to several agents, in parallel or in sequence.
public final class SubagentsTool implements SpawnTool {

  /// The name of the tool.
  public static final String NAME = "subagents";

  private record Task(String agentId, String prompt) {}

  private record Arguments(@Nullable String mode, List<ObjectNode> tasks) {}

  private final List<AgentTool> agents;

  public SubagentsTool(List<AgentTool> agents) {
    this.agents = List.copyOf(agents);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "Hands tasks to several agents at once (mode parallel) or one after the other (mode serial:"
        + " each is told the results before it, and the first failure ends the rest). Answers"
        + " {results:[{agentId, status, result}]} in the order of the tasks. The agents know nothing of"
        + " this conversation: say in each prompt all that it needs. The agents: "
        + agents.stream()
            .map(agent -> agent.agent() + " (" + agent.about() + ")")
            .collect(Collectors.joining("; "));
  }

  @Override
  public ObjectNode schema() {
    var schema = ArgumentsSchema.of(Arguments.class);
    var properties = (ObjectNode) schema.path("properties");
    var mode = Json.object().put("type", "string");
    mode.putArray("enum").add(Mode.PARALLEL.wire()).add(Mode.SERIAL.wire());
    properties.set("mode", mode);
    var task = ArgumentsSchema.of(Task.class);
    var ids = ((ObjectNode) task.path("properties").path("agentId")).putArray("enum");
    agents.forEach(agent -> ids.add(agent.agent().value()));
    ((ObjectNode) properties.path("tasks")).set("items", task);
    return schema;
  }

  @Override
  public SubagentJobs jobs(ObjectNode arguments) {
    var wanted = Json.read(arguments, Arguments.class);
    if (wanted.tasks().isEmpty()) {
      throw new Rejection.Invalid("tasks: at least one is needed");
    }
    var mode =
        wanted.mode() == null ? Mode.PARALLEL : WireName.parse(Mode.class, "mode", wanted.mode());
    return new SubagentJobs(mode, wanted.tasks().stream().map(this::job).toList());
  }

  private SubagentJob job(ObjectNode json) {
    var task = Json.read(json, Task.class);
    if (task.prompt().isBlank()) {
      throw new Rejection.Invalid("a prompt needs text");
    }
    if (agents.stream().noneMatch(agent -> agent.agent().value().equals(task.agentId()))) {
      throw new Rejection.Invalid(
          "there is no agent "
              + task.agentId()
              + " to hand work to; known: "
              + agents.stream().map(a -> a.agent().value()).collect(Collectors.joining(", ")));
    }
    return new SubagentJob(new AgentTypeId(task.agentId()), task.prompt());
  }

  @Override
  public ToolResult result(List<EndedJob> ended) {
    var result = Json.object();
    var results = result.putArray("results");
    for (var one : ended) {
      var json =
          results
              .addObject()
              .put("agentId", one.job().agent().value())
              .put("taskId", one.end().subtaskId().value())
              .put("status", one.end().status().wire());
      if (one.end().result() != null) {
        json.put("result", one.end().result());
      }
      if (one.end().error() != null) {
        json.put("error", one.end().error());
      }
    }
    return ended.stream().anyMatch(one -> one.end().status() == TaskState.COMPLETED)
        ? new ToolResult.Done(result)
        : new ToolResult.Failed("no sub-agent succeeded: " + result);
  }
}
