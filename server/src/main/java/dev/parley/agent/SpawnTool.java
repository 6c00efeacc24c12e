package dev.parley.agent;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// A tool whose calls are performed by other agents: it defines their jobs, and combines the
/// results.
interface SpawnTool extends Tool {

  /// The job of one agent.
  record SubagentJob(AgentTypeId agent, String prompt) {}

  /// The jobs of the agents, and whether they run in parallel.
  record SubagentJobs(Mode mode, List<SubagentJob> list) {
    public SubagentJobs {
      list = List.copyOf(list);
    }
  }

  /// A job that has ended.
  record EndedJob(SubagentJob job, SubtaskComplete end) {}

  /// The jobs for these arguments.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if the arguments are not valid
  SubagentJobs jobs(ObjectNode arguments);

  /// The combined result of the call.
  ToolResult result(List<EndedJob> ended);

  @Override
  default Effect effect() {
    return Effect.PURE;
  }

  @Override
  default boolean concurrent() {
    return true;
  }

  @Override
  default ToolResult call(ObjectNode arguments, ToolContext context) {
    throw new IllegalStateException("other agents perform the calls of this tool");
  }
}
