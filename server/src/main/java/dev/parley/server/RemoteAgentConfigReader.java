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

  static Config.AgentKind kind(AgentSection section, ConfigProblems problems) {
    var url = problems.collect(() -> ProxyConfigReader.url(section.url()));
    var version = problems.collect(() -> version(or(section.version(), AUTO)));
    var transport = problems.collect(() -> transport(or(section.transport(), AUTO)));
    var headers = headers(or(section.headers(), Map.of()), section.token(), problems);
    var timeout = wait("timeout", or(section.timeout(), A2aRemoteSettings.TIMEOUT), problems);
    var silence = wait("silence", or(section.silence(), A2aRemoteSettings.SILENCE), problems);
    return url == null
        ? AgentConfigReader.INVALID
        : new Config.AgentKind.A2a(
            new A2aRemoteSettings(url, version, transport, headers, timeout, silence));
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

  private static Map<String, String> headers(
      Map<String, String> given, @Nullable String token, ConfigProblems problems) {
    var headers = new LinkedHashMap<>(given);
    if (token != null) {
      if (given.keySet().stream().anyMatch("authorization"::equalsIgnoreCase)) {
        problems.add(invalid("token", "is not allowed together with the header Authorization"));
      }
      headers.put("Authorization", "Bearer " + token);
    }
    headers.forEach(
        (name, value) -> {
          if (!NAME.matcher(name).matches()
              || value.chars().anyMatch(Character::isISOControl)
              || value.isBlank()) {
            // The message must not contain the value.
            problems.add(invalid("headers." + name, "this is not a valid header"));
          }
        });
    return headers;
  }

  private static Duration wait(String key, Duration wait, ConfigProblems problems) {
    if (wait.compareTo(WAIT_MIN) < 0 || wait.compareTo(WAIT_MAX) > 0) {
      problems.add(invalid(key, "must be between 1s and 1h"));
    }
    return wait;
  }
}
