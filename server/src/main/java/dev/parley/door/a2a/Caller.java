package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.protocol.AgentTypeId;
import dev.parley.task.Answerer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Who calls which agent, and in which version. `answerer` decides whether they may answer what a task asks.
///
/// @param kagent whether the call came to the path that kagent's clients use
public record Caller(
    String principal,
    AgentTypeId agent,
    Version version,
    boolean kagent,
    @Nullable String tenant,
    Supplier<Answerer> answerer) {

  /// The same, for a tenant that the request itself names, if it names one.
  Caller with(@Nullable String named) {
    return named == null ? this : new Caller(principal, agent, version, kagent, named, answerer);
  }
}
