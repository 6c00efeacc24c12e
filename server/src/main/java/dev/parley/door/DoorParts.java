package dev.parley.door;

import dev.parley.log.EventLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Tasks;
import dev.parley.vault.SignIns;
import dev.parley.view.Views;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/// The services that every API needs. `taskTimeout` is the default time limit of a task.
public record DoorParts(
    EventLog log,
    Views views,
    Tasks tasks,
    Access access,
    ApprovalPolicy approvals,
    Removal removal,
    Descriptions descriptions,
    Tail.Parts tails,
    SignIns signIns,
    InstantSource clock,
    Supplier<UUID> ids,
    List<AgentType> agentTypes,
    Duration taskTimeout) {
  public DoorParts {
    agentTypes = List.copyOf(agentTypes);
  }

  /// The agent for requests that name none: the first configured agent.
  public AgentTypeId standard() {
    return agentTypes.getFirst().id();
  }
}
