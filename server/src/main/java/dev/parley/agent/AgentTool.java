package dev.parley.agent;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.tool.ArgumentsSchema;
import dev.parley.tool.ToolResult;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// `agent_<id>`: delegates a task to one other agent.
public final class AgentTool implements SpawnTool {

  private static final int NAME_MAX = 64;

  private record Arguments(String prompt) {}

  private final AgentTypeId agent;
  private final String about;
  private final String name;

  public AgentTool(AgentTypeId agent, String about) {
    this.agent = agent;
    this.about = about;
    this.name = nameOf(agent);
  }

  /// The agent that does the work.
  public AgentTypeId agent() {
    return agent;
  }

  /// What the agent can do.
  String about() {
    return about;
  }

  @Override
  public String name() {
    return name;
  }

  /// The name of the tool that delegates to this agent.
  public static String nameOf(AgentTypeId agent) {
    var name = "agent_" + agent.value().replaceAll("[^A-Za-z0-9_-]", "_");
    return name.substring(0, Math.min(name.length(), NAME_MAX));
  }

  @Override
  public String description() {
    return "Hands a task to the agent "
        + agent
        + " and answers with its result. The agent knows nothing of this conversation: say in the"
        + " prompt all that it needs. "
        + about;
  }

  @Override
  public ObjectNode schema() {
    return ArgumentsSchema.of(Arguments.class);
  }

  @Override
  public String provider() {
    return agent.value();
  }

  @Override
  public SubagentJobs jobs(ObjectNode arguments) {
    var prompt = Json.read(arguments, Arguments.class).prompt();
    if (prompt.isBlank()) {
      throw new Rejection.Invalid("a prompt needs text");
    }
    return new SubagentJobs(Mode.PARALLEL, List.of(new SubagentJob(agent, prompt)));
  }

  @Override
  public ToolResult result(List<EndedJob> ended) {
    var end = ended.getFirst().end();
    return end.status() == TaskState.COMPLETED
        ? new ToolResult.Done(StringNode.valueOf(end.result() == null ? "" : end.result()))
        : new ToolResult.Failed(
            "the agent " + end.status().wire() + (end.error() == null ? "" : ": " + end.error()));
  }
}
