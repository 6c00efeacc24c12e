package dev.parley.api.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.a2a.A2aException;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.ApiDependencies;
import dev.parley.http.Request;
import dev.parley.protocol.AgentTypeView;
import dev.parley.protocol.Rejection;
import java.util.Arrays;
import java.util.stream.Collectors;

/// Resolves the agent, the protocol version and the caller of a request.
final class A2aAgentResolver {

  private final ApiDependencies parts;

  A2aAgentResolver(ApiDependencies parts) {
    this.parts = parts;
  }

  /// The agent that the path names with `{agent}`.
  ///
  /// @throws Rejection.NotFound if there is none
  AgentTypeView find(Request request) {
    return find(request.path("agent"));
  }

  /// The default agent.
  AgentTypeView defaultAgent() {
    return find(parts.defaultAgent().value());
  }

  private AgentTypeView permitted(Request request) {
    var agent = find(request);
    parts.access().checkAgent(request.caller(), agent.id());
    return agent;
  }

  private AgentTypeView find(String id) {
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
  A2aVersion version(Request request) {
    var named =
        request.header(A2aVersion.HEADER).or(() -> request.query(A2aVersion.HEADER)).orElse(null);
    return A2aVersion.parse(named)
        .orElseThrow(
            () ->
                new A2aException(
                    A2aError.VERSION_NOT_SUPPORTED,
                    "The requested A2A protocol version '"
                        + named
                        + "' is not supported. Supported versions: "
                        + Arrays.stream(A2aVersion.values())
                            .map(A2aVersion::number)
                            .collect(Collectors.joining(", "))));
  }

  /// The version of the card to return. For an unsupported version this is 1.0: the card lists the
  /// supported versions.
  A2aVersion cardVersion(Request request) {
    var named =
        request.header(A2aVersion.HEADER).or(() -> request.query(A2aVersion.HEADER)).orElse(null);
    return A2aVersion.parse(named).orElse(A2aVersion.V1_0);
  }

  A2aCaller caller(Request request, A2aVersion version) {
    return new A2aCaller(
        request.caller(),
        permitted(request).id(),
        version,
        request.variable("namespace").isPresent(),
        null,
        () -> parts.approvals().agent(request));
  }
}
