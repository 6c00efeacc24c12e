package dev.parley.api.a2a;

import dev.parley.a2a.A2aVersion;
import dev.parley.identity.Caller;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Answerer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The caller, agent and version of a request.
///
/// @param kagent whether the request uses the path for kagent clients
/// @param answerer decides whether the caller may answer a task's questions
public record A2aCaller(
    Caller identity,
    AgentTypeId agent,
    A2aVersion version,
    boolean kagent,
    @Nullable String tenant,
    Supplier<Answerer> answerer) {

  String principal() {
    return identity.principal();
  }

  /// Returns this caller with the tenant that the request names, if it names one.
  A2aCaller withTenant(@Nullable String named) {
    return named == null ? this : new A2aCaller(identity, agent, version, kagent, named, answerer);
  }
}
