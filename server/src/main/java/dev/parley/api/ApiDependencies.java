package dev.parley.api;

import dev.parley.auth.SignIns;
import dev.parley.http.ApiTokens;
import dev.parley.http.HttpSettings;
import dev.parley.log.EventLog;
import dev.parley.projection.Views;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AgentTypeView;
import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import dev.parley.stream.StreamDependencies;
import dev.parley.task.Tasks;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
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
    StreamDependencies streamDependencies,
    SignIns signIns,
    Time time,
    Threads threads,
    Supplier<UUID> ids,
    List<AgentTypeView> agentTypes,
    Function<AgentTypeId, LaunchOptions> launchOptions,
    HttpSettings http,
    ApiTokens tokens,
    Duration taskTimeout) {

  /// The options of an agent type that a client may override, and whether its program is installed.
  public record LaunchOptions(Set<String> overridable, boolean installed) {

    /// An agent type without such options that needs no program.
    public static final LaunchOptions NONE = new LaunchOptions(Set.of(), true);

    public LaunchOptions {
      overridable = Set.copyOf(overridable);
    }
  }

  public ApiDependencies {
    agentTypes = List.copyOf(agentTypes);
  }

  /// The agent for requests that name none: the first configured agent.
  public AgentTypeId defaultAgent() {
    return agentTypes.getFirst().id();
  }
}
