package dev.parley.http;

import dev.parley.auth.SignIns;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Tasks;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/// The services that every API needs. `taskTimeout` is the default time limit of a task.
public record ApiDependencies(
    EventLog log,
    Views views,
    Tasks tasks,
    ContextAccess access,
    ApprovalPolicy approvals,
    ContextDeletion deletion,
    ContextEditor contextEditor,
    ContextStream.StreamDependencies streamDependencies,
    SignIns signIns,
    InstantSource clock,
    Supplier<UUID> ids,
    List<AgentTypeView> agentTypes,
    Duration taskTimeout) {
  public ApiDependencies {
    agentTypes = List.copyOf(agentTypes);
  }

  /// The agent for requests that name none: the first configured agent.
  public AgentTypeId defaultAgent() {
    return agentTypes.getFirst().id();
  }
}
