package dev.parley.mcp;

import dev.parley.protocol.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// The authorization server of an MCP server: its endpoints, the scopes to request, and the
/// `resource` (RFC 8707). It supports PKCE with S256.
public record OAuthServer(
    String issuer,
    String authorizationEndpoint,
    String tokenEndpoint,
    @Nullable String registrationEndpoint,
    List<String> scopes,
    String resource) {

  public OAuthServer {
    scopes = List.copyOf(scopes);
  }

  /// Parses the output of [#json], such as the metadata of a sign-in.
  ///
  /// @throws dev.parley.protocol.Rejection.Invalid if it is something else
  public static OAuthServer of(ObjectNode json) {
    return Json.read(json, OAuthServer.class);
  }

  /// Converts it to JSON. None of it is secret.
  public ObjectNode json() {
    return Json.mapper().valueToTree(this);
  }
}
