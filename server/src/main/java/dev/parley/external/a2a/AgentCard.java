package dev.parley.external.a2a;

import dev.parley.a2a.A2aVersion;
import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// An agent card, reduced to the fields that a client needs.
record AgentCard(List<A2aEndpoint> endpoints, boolean streaming, Set<String> extensions) {

  private static final int ENDPOINTS_MAX = 50;

  AgentCard {
    endpoints = List.copyOf(endpoints);
    extensions = Set.copyOf(extensions);
  }

  /// Parses a card of either version, or of both.
  static AgentCard read(JsonNode json) {
    var endpoints = new ArrayList<A2aEndpoint>();
    for (var one : json.path("supportedInterfaces")) {
      add(endpoints, one, "protocolBinding", one.path("protocolVersion").asString(""));
    }
    var old = json.path("protocolVersion").asString("0.3");
    if (json.path("url").isString()) {
      add(endpoints, json, "preferredTransport", old);
      for (var one : json.path("additionalInterfaces")) {
        add(endpoints, one, "transport", old);
      }
    }
    var capabilities = json.path("capabilities");
    var extensions = new HashSet<String>();
    for (var extension : capabilities.path("extensions")) {
      extensions.add(extension.path("uri").asString(""));
    }
    return new AgentCard(endpoints, capabilities.path("streaming").asBoolean(false), extensions);
  }

  /// A card for an agent without one, if version and transport are configured; `url` is then its
  /// interface.
  static Optional<AgentCard> configured(A2aRemoteSettings settings) {
    return settings.version() == null || settings.transport() == null
        ? Optional.empty()
        : Optional.of(
            new AgentCard(
                List.of(
                    new A2aEndpoint(
                        settings.url(), settings.version(), settings.transport(), null)),
                true,
                Set.of()));
  }

  private static void add(
      List<A2aEndpoint> endpoints, JsonNode json, String bindingField, String versionText) {
    var binding = json.path(bindingField).asString(A2aTransport.JSONRPC.binding());
    var tenant = json.path("tenant").asString("");
    for (var a2aTransport : A2aTransport.values()) {
      if (a2aTransport.binding().equalsIgnoreCase(binding) && endpoints.size() < ENDPOINTS_MAX) {
        version(versionText)
            .flatMap(
                a2aVersion ->
                    address(json.path("url").asString(""))
                        .map(
                            url ->
                                new A2aEndpoint(
                                    url,
                                    a2aVersion,
                                    a2aTransport,
                                    tenant.isEmpty() ? null : tenant)))
            .filter(a2aEndpoint -> !endpoints.contains(a2aEndpoint))
            .ifPresent(endpoints::add);
      }
    }
  }

  /// Parses major and minor numbers. Versions before 0.3 are treated as 0.3.
  private static Optional<A2aVersion> version(String text) {
    return text.startsWith("1.")
        ? Optional.of(A2aVersion.V1_0)
        : text.startsWith("0.") ? Optional.of(A2aVersion.V0_3) : Optional.empty();
  }

  private static Optional<URI> address(String text) {
    try {
      var url = URI.create(text);
      return url.getHost() == null ? Optional.empty() : Optional.of(url);
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  /// The endpoint that fits the settings: the newest version first, then in the order of the card.
  ///
  /// @throws Trouble if there is none
  A2aEndpoint chooseEndpoint(A2aRemoteSettings settings) throws A2aFailure {
    var fitting =
        endpoints.stream()
            .filter(one -> settings.version() == null || settings.version() == one.version())
            .filter(one -> settings.transport() == null || settings.transport() == one.transport())
            .sorted(Comparator.comparing(A2aEndpoint::version).reversed())
            .toList();
    return fitting.stream()
        .filter(one -> settings.hasSameOrigin(one.url()))
        .findFirst()
        .orElseThrow(
            () ->
                A2aFailure.unusable(
                    fitting.isEmpty()
                        ? "its card lists no supported interface that fits the configuration: "
                            + shown(endpoints)
                        : "its card lists only interfaces at other origins: "
                            + shown(fitting)
                            + "; if that is right, configure that address as url"));
  }

  private static String shown(List<A2aEndpoint> some) {
    return some.isEmpty()
        ? "none"
        : some.stream().map(A2aEndpoint::toString).collect(Collectors.joining(", "));
  }
}
