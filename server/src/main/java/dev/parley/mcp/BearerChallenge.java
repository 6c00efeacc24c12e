package dev.parley.mcp;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// The response of a server that rejects a request because a token is missing or insufficient (RFC
/// 6750, RFC 9728).
record BearerChallenge(int status, Map<String, String> parameters) {

  static final BearerChallenge NONE = new BearerChallenge(401, Map.of());

  private static final Pattern PARAMETER =
      Pattern.compile("([A-Za-z_]+)\\s*=\\s*(?:\"([^\"]{0,2000})\"|([^\\s,\"]{1,2000}))");

  BearerChallenge {
    parameters = Map.copyOf(parameters);
  }

  /// Parses the `WWW-Authenticate` headers of a response.
  static BearerChallenge of(int status, List<String> headers) {
    var parameters = new TreeMap<String, String>();
    for (var header : headers) {
      if (header.toLowerCase(Locale.ROOT).startsWith("bearer")) {
        PARAMETER
            .matcher(header)
            .results()
            .forEach(
                found ->
                    parameters.putIfAbsent(
                        found.group(1).toLowerCase(Locale.ROOT),
                        found.group(2) == null ? found.group(3) : found.group(2)));
      }
    }
    return new BearerChallenge(status, parameters);
  }

  /// True if the request needs a token, or a token with more scopes.
  boolean requiresSignIn() {
    return status == 401 || "insufficient_scope".equals(parameters.get("error"));
  }

  Optional<String> resourceMetadata() {
    return Optional.ofNullable(parameters.get("resource_metadata"));
  }

  List<String> scopes() {
    var scopes = parameters.getOrDefault("scope", "").strip();
    return scopes.isEmpty() ? List.of() : List.of(scopes.split("\\s+", -1));
  }
}
