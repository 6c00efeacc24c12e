package dev.parley.auth;

import dev.parley.protocol.Rejection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// An OAuth authorization server, as described in the metadata of a tool's sign-in request.
record AuthorizationServer(
    String issuer,
    String authorizationEndpoint,
    String tokenEndpoint,
    @Nullable String registrationEndpoint,
    @Nullable String resource,
    @Nullable String clientId) {

  /// Returns empty if the metadata lacks a required field.
  static Optional<AuthorizationServer> of(@Nullable ObjectNode metadata) {
    if (metadata == null
        || !metadata.path("authorizationEndpoint").isString()
        || !metadata.path("tokenEndpoint").isString()) {
      return Optional.empty();
    }
    var server =
        new AuthorizationServer(
            metadata.path("issuer").asString(""),
            metadata.path("authorizationEndpoint").asString(),
            metadata.path("tokenEndpoint").asString(),
            text(metadata, "registrationEndpoint"),
            text(metadata, "resource"),
            text(metadata, "clientId"));
    checkSafe(server.authorizationEndpoint());
    checkSafe(server.tokenEndpoint());
    if (server.registrationEndpoint() != null) {
      checkSafe(server.registrationEndpoint());
    }
    return Optional.of(server);
  }

  private static @Nullable String text(ObjectNode metadata, String name) {
    var text = metadata.path(name).asString("");
    return text.isEmpty() ? null : text;
  }

  /// The addresses are not trusted: only HTTPS is allowed, or HTTP to the loopback interface.
  private static void checkSafe(String address) {
    try {
      var uri = URI.create(address);
      var host = uri.getHost();
      if (host != null
          && uri.getRawFragment() == null
          && uri.getRawUserInfo() == null
          && ("https".equals(uri.getScheme())
              || ("http".equals(uri.getScheme())
                  && InetAddress.getByName(host).isLoopbackAddress()))) {
        return;
      }
    } catch (IOException | IllegalArgumentException unusable) {
      // Rejected below.
    }
    throw new Rejection.Invalid("the authorization server's metadata has no usable endpoint");
  }
}
