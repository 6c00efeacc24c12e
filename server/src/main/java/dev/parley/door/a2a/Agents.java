package dev.parley.door.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.Version;
import dev.parley.door.AgentType;
import dev.parley.door.DoorParts;
import dev.parley.door.Request;
import dev.parley.protocol.Rejection;
import java.util.Arrays;
import java.util.stream.Collectors;

/// Resolves the agent, the protocol version and the caller of a request.
final class Agents {

  private final DoorParts parts;

  Agents(DoorParts parts) {
    this.parts = parts;
  }

  /// The agent that the path names with `{agent}`.
  ///
  /// @throws Rejection.NotFound if there is none
  AgentType find(Request request) {
    return find(request.path("agent"));
  }

  /// The default agent.
  AgentType standard() {
    return find(parts.standard().value());
  }

  private AgentType find(String id) {
    return parts.agentTypes().stream()
        .filter(type -> type.id().value().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                new Rejection.NotFound(
                    "no agent is called "
                        + id
                        + "; known: "
                        + parts.agentTypes().stream()
                            .map(type -> type.id().value())
                            .collect(Collectors.joining(", "))));
  }

  /// The version that a request names in its header, or in its query if it has no such header.
  ///
  /// @throws A2aException if the server does not support this version
  Version version(Request request) {
    var named = request.header(Version.HEADER).or(() -> request.query(Version.HEADER)).orElse(null);
    return Version.named(named)
        .orElseThrow(
            () ->
                new A2aException(
                    A2aError.VERSION_NOT_SUPPORTED,
                    "The requested A2A protocol version '"
                        + named
                        + "' is not supported. Supported versions: "
                        + Arrays.stream(Version.values())
                            .map(Version::number)
                            .collect(Collectors.joining(", "))));
  }

  /// The version of the card to return. For an unsupported version this is 1.0: the card lists the
  /// supported versions.
  Version cardVersion(Request request) {
    var named = request.header(Version.HEADER).or(() -> request.query(Version.HEADER)).orElse(null);
    return Version.named(named).orElse(Version.V1_0);
  }

  Caller caller(Request request, Version version) {
    return new Caller(
        request.principal(),
        find(request).id(),
        version,
        request.variable("namespace").isPresent(),
        null,
        () -> parts.approvals().agent(request));
  }
}
