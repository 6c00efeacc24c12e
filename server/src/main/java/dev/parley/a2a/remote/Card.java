package dev.parley.a2a.remote;

import dev.parley.a2a.Version;
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
record Card(List<Endpoint> endpoints, boolean streaming, Set<String> extensions) {

  private static final int ENDPOINTS_MAX = 50;

  Card {
    endpoints = List.copyOf(endpoints);
    extensions = Set.copyOf(extensions);
  }

  /// Parses a card of either version, or of both.
  static Card read(JsonNode json) {
    var endpoints = new ArrayList<Endpoint>();
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
    return new Card(endpoints, capabilities.path("streaming").asBoolean(false), extensions);
  }

  /// A card for an agent without one, if version and transport are configured; `url` is then its
  /// interface.
  static Optional<Card> configured(RemoteSettings settings) {
    return settings.version() == null || settings.transport() == null
        ? Optional.empty()
        : Optional.of(
            new Card(
                List.of(
                    new Endpoint(settings.url(), settings.version(), settings.transport(), null)),
                true,
                Set.of()));
  }

  private static void add(
      List<Endpoint> endpoints, JsonNode json, String bindingField, String versionText) {
    var binding = json.path(bindingField).asString(Transport.JSONRPC.binding());
    var tenant = json.path("tenant").asString("");
    for (var transport : Transport.values()) {
      if (transport.binding().equalsIgnoreCase(binding) && endpoints.size() < ENDPOINTS_MAX) {
        version(versionText)
            .flatMap(
                version ->
                    address(json.path("url").asString(""))
                        .map(
                            url ->
                                new Endpoint(
                                    url, version, transport, tenant.isEmpty() ? null : tenant)))
            .filter(endpoint -> !endpoints.contains(endpoint))
            .ifPresent(endpoints::add);
      }
    }
  }

  /// Parses major and minor numbers. Versions before 0.3 are treated as 0.3.
  private static Optional<Version> version(String text) {
    return text.startsWith("1.")
        ? Optional.of(Version.V1_0)
        : text.startsWith("0.") ? Optional.of(Version.V0_3) : Optional.empty();
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
  Endpoint choose(RemoteSettings settings) throws Trouble {
    var fitting =
        endpoints.stream()
            .filter(one -> settings.version() == null || settings.version() == one.version())
            .filter(one -> settings.transport() == null || settings.transport() == one.transport())
            .sorted(Comparator.comparing(Endpoint::version).reversed())
            .toList();
    return fitting.stream()
        .filter(one -> settings.covers(one.url()))
        .findFirst()
        .orElseThrow(
            () ->
                Trouble.unusable(
                    fitting.isEmpty()
                        ? "its card lists no supported interface that fits the configuration: "
                            + shown(endpoints)
                        : "its card lists only interfaces at other origins: "
                            + shown(fitting)
                            + "; if that is right, configure that address as url"));
  }

  private static String shown(List<Endpoint> some) {
    return some.isEmpty()
        ? "none"
        : some.stream().map(Endpoint::toString).collect(Collectors.joining(", "));
  }
}
