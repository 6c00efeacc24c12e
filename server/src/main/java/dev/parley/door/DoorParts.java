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

/// What every door passes requests on to. `taskTimeout` is how long a task may work.
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

  /// The agent that takes what names none: the first that is configured.
  public AgentTypeId standard() {
    return agentTypes.getFirst().id();
  }
}
