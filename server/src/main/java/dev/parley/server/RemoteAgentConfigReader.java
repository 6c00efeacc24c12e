package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.notOneOf;

import dev.parley.a2a.A2aVersion;
import dev.parley.external.a2a.A2aRemoteSettings;
import dev.parley.external.a2a.A2aTransport;
import dev.parley.external.proxy.ProxySettings;
import dev.parley.protocol.WireName;
import dev.parley.server.AgentConfig.AgentKind;
import dev.parley.server.ConfigFile.AgentSection;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads agents of type `proxy` and `a2a`.
final class RemoteAgentConfigReader {

  private static final String AUTO = "auto";
  private static final Duration WAIT_MIN = Duration.ofSeconds(1);
  private static final Duration WAIT_MAX = Duration.ofHours(1);
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}");

  private RemoteAgentConfigReader() {}

  /// Reads the settings of an agent of type `proxy`. Null if its address is invalid.
  static @Nullable AgentKind proxy(AgentSection section, ConfigProblems problems) {
    var silence = or(section.silence(), ProxySettings.SILENCE);
    if (silence.compareTo(WAIT_MIN) < 0) {
      problems.add(invalid("silence", "must be at least 1s"));
    }
    var url = problems.collect(() -> url(section.url()));
    return url == null ? null : new AgentKind.Proxy(new ProxySettings(url, silence));
  }

  /// Reads the settings of an agent of type `a2a`. Null if its address is invalid.
  static @Nullable AgentKind a2a(AgentSection section, ConfigProblems problems) {
    var url = problems.collect(() -> url(section.url()));
    var version = problems.collect(() -> version(or(section.version(), AUTO)));
    var transport = problems.collect(() -> transport(or(section.transport(), AUTO)));
    var headers = headers(or(section.headers(), Map.of()), section.token(), problems);
    var timeout = wait("timeout", or(section.timeout(), A2aRemoteSettings.TIMEOUT), problems);
    var silence = wait("silence", or(section.silence(), A2aRemoteSettings.SILENCE), problems);
    return url == null
        ? null
        : new AgentKind.A2a(
            new A2aRemoteSettings(url, version, transport, headers, timeout, silence));
  }

  private static URI url(@Nullable String text) {
    try {
      var url = URI.create(text == null ? "" : text);
      if (("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
          && url.getHost() != null
          && url.getUserInfo() == null
          && url.getQuery() == null
          && url.getFragment() == null) {
        return url;
      }
    } catch (IllegalArgumentException malformed) {
      // Rejected below, as any other invalid address.
    }
    throw invalid("url", "must be an address such as http://127.0.0.1:8000");
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
