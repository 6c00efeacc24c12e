package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.notOneOf;
import static dev.parley.server.ConfigReader.or;

import dev.parley.a2a.A2aVersion;
import dev.parley.external.a2a.A2aRemoteSettings;
import dev.parley.external.a2a.A2aTransport;
import dev.parley.protocol.WireName;
import dev.parley.server.ConfigFile.AgentSection;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads agents of type `a2a`.
final class RemoteAgentConfigReader {

  private static final String AUTO = "auto";
  private static final Duration WAIT_MIN = Duration.ofSeconds(1);
  private static final Duration WAIT_MAX = Duration.ofHours(1);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}");

  private RemoteAgentConfigReader() {}

  static Config.AgentKind.A2a kind(AgentSection section) {
    if (section.hasLocalSettings()) {
      throw invalid(
          "type",
          "type a2a supports only url, version, transport, headers, token, timeout, silence, id,"
              + " name, description and taskTypes; configure everything else at the remote"
              + " agent");
    }
    return new Config.AgentKind.A2a(
        new A2aRemoteSettings(
            ProxyConfigReader.url(section.url()),
            version(or(section.version(), AUTO)),
            transport(or(section.transport(), AUTO)),
            headers(or(section.headers(), Map.of()), section.token()),
            wait("timeout", or(section.timeout(), A2aRemoteSettings.TIMEOUT)),
            wait("silence", or(section.silence(), A2aRemoteSettings.SILENCE))));
  }

  private static @Nullable A2aVersion version(String text) {
    if (text.equals(AUTO)) {
      return null;
    }
    return A2aVersion.parse(text)
        .filter(a2aVersion -> !text.isBlank())
        .orElseThrow(() -> notOneOf("version", text, List.of(AUTO, "1.0", "0.3")));
  }

  private static @Nullable A2aTransport transport(String text) {
    return text.equals(AUTO)
        ? null
        : WireName.find(A2aTransport.class, text)
            .orElseThrow(() -> notOneOf("transport", text, List.of(AUTO, "jsonrpc", "rest")));
  }

  private static Map<String, String> headers(Map<String, String> given, @Nullable String token) {
    var headers = new LinkedHashMap<>(given);
    if (token != null) {
      if (given.keySet().stream().anyMatch("authorization"::equalsIgnoreCase)) {
        throw invalid("token", "is not allowed together with the header Authorization");
      }
      headers.put("Authorization", "Bearer " + token);
    }
    headers.forEach(
        (name, value) -> {
          if (!NAME.matcher(name).matches()
              || value.chars().anyMatch(Character::isISOControl)
              || value.isBlank()) {
            // The message must not contain the value.
            throw invalid("headers." + name, "this is not a valid header");
          }
        });
    return headers;
  }

  private static Duration wait(String where, Duration wait) {
    if (wait.compareTo(WAIT_MIN) < 0 || wait.compareTo(WAIT_MAX) > 0) {
      throw invalid(where, "must be between 1s and 1h");
    }
    return wait;
  }
}
