package dev.parley.agent;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.protocol.WireName;
import dev.parley.task.SubtaskSpawner;
import dev.parley.task.TaskRun;
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
  private final ObjectNode schema;

  public SubagentsTool(List<AgentTool> agents) {
    this.agents = List.copyOf(agents);
    this.schema = schema(this.agents);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "Hands tasks to several agents at once (mode parallel) or one after the other (mode"
        + " serial: each is told the results before it, and the first failure ends the"
        + " rest). Answers {results:[{agentId, status, result}]} in the order of the tasks."
        + " The agents know nothing of this conversation: say in each prompt all that it"
        + " needs. The agents: "
        + agents.stream()
            .map(agent -> agent.agent() + " (" + agent.about() + ")")
            .collect(Collectors.joining("; "));
  }

  @Override
  public ObjectNode schema() {
    return schema;
  }

  /// A copy, because the schemas of the records are shared.
  private static ObjectNode schema(List<AgentTool> agents) {
    var schema = ArgumentsSchema.of(Arguments.class).deepCopy();
    var properties = (ObjectNode) schema.path("properties");
    var mode = Json.object().put("type", "string");
    mode.putArray("enum").add(Mode.PARALLEL.wire()).add(Mode.SERIAL.wire());
    properties.set("mode", mode);
    var task = ArgumentsSchema.of(Task.class).deepCopy();
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
    return result(
        ended.stream().map(one -> one.job().agent()).toList(),
        ended.stream().map(EndedJob::end).toList());
  }

  /// The result of a call whose subtasks, one for each of `agents`, ended like this.
  public static ToolResult result(List<AgentTypeId> agents, List<SubtaskComplete> ends) {
    var result = Json.object();
    var results = result.putArray("results");
    for (var i = 0; i < ends.size(); i++) {
      var end = ends.get(i);
      var json =
          results
              .addObject()
              .put("agentId", agents.get(i).value())
              .put("taskId", end.subtaskId().value())
              .put("status", end.status().wire());
      if (end.result() != null) {
        json.put("result", end.result());
      }
      if (end.error() != null) {
        json.put("error", end.error());
      }
    }
    return ends.stream().anyMatch(end -> end.status() == TaskState.COMPLETED)
        ? new ToolResult.Done(result)
        : new ToolResult.Failed("no sub-agent succeeded: " + result);
  }

  /// The start of a call that creates these subtasks.
  public static ToolStart start(
      TaskRun taskRun,
      InvocationId invocation,
      Mode mode,
      List<SubtaskSpawner.SubtaskRequest> subtasks) {
    var call = new ToolCall(taskRun.sources().toolCallId(), NAME, arguments(mode, subtasks));
    var metadata = ToolCallFacts.ofStart("local", true, Effect.PURE.wire());
    ToolCallFacts.putInvocationId(metadata, invocation);
    var ids = subtasks.stream().map(SubtaskSpawner.SubtaskRequest::task).toList();
    return new ToolStart(
        call.id(),
        NAME,
        call.arguments(),
        metadata,
        1,
        TaskOutput.idempotencyKey(taskRun, call.id()),
        null,
        new SubagentMetadata(ids, ids.size(), mode));
  }

  private static ObjectNode arguments(Mode mode, List<SubtaskSpawner.SubtaskRequest> subtasks) {
    var arguments = Json.object().put("mode", mode.wire());
    var tasks = arguments.putArray("tasks");
    subtasks.forEach(
        subtask ->
            tasks
                .addObject()
                .put("agentId", subtask.agent().value())
                .put("prompt", subtask.prompt()));
    return arguments;
  }

  /// The end of a started call.
  public static ToolComplete end(ToolStart start, ToolResult result, long durationMillis) {
    var call = new ToolCall(start.toolCallId(), start.toolName(), start.arguments());
    return ToolCallEvents.of(call, result, start.subagentMetadata(), durationMillis);
  }
}
