package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.protocol.AgentTypeId;
import org.jspecify.annotations.Nullable;

/// Who calls which agent, and in which version.
public record Caller(
    String principal, AgentTypeId agent, Version version, @Nullable String tenant) {

  /// The same, for a tenant that the request itself names, if it names one.
  Caller with(@Nullable String named) {
    return named == null ? this : new Caller(principal, agent, version, named);
  }
}
