package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Answerer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The principal, agent and version of a request.
///
/// @param kagent whether the request uses the path for kagent clients
/// @param answerer decides whether the caller may answer a task's questions
public record Caller(
    String principal,
    AgentTypeId agent,
    Version version,
    boolean kagent,
    @Nullable String tenant,
    Supplier<Answerer> answerer) {

  /// Returns this caller with the tenant that the request names, if it names one.
  Caller with(@Nullable String named) {
    return named == null ? this : new Caller(principal, agent, version, kagent, named, answerer);
  }
}
