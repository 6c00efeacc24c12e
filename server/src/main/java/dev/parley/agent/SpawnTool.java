package dev.parley.agent;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/// A tool whose call is done by other agents: it says which, and what their results make together.
interface SpawnTool extends Tool {

  /// What one agent is to do.
  record Job(AgentTypeId agent, String prompt) {}

  /// What the agents are to do, and whether side by side.
  record Jobs(Mode mode, List<Job> list) {
    public Jobs {
      list = List.copyOf(list);
    }
  }

  /// A job that has ended.
  record Ended(Job job, SubtaskComplete end) {}

  /// The jobs that these arguments ask for.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if they do not fit
  Jobs jobs(ObjectNode arguments);

  /// What the call came to.
  ToolResult result(List<Ended> ended);

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
    throw new IllegalStateException("other agents do this");
  }
}
