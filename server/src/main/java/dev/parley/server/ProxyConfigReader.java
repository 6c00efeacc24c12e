package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigReader.or;

import dev.parley.external.proxy.ProxySettings;
import dev.parley.server.ConfigFile.AgentSection;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Reads agents of type `proxy`.
final class ProxyConfigReader {

  private static final Duration SILENCE_MIN = Duration.ofSeconds(1);

  private ProxyConfigReader() {}

  static Config.AgentKind kind(AgentSection section, ConfigProblems problems) {
    var silence = or(section.silence(), ProxySettings.SILENCE);
    if (silence.compareTo(SILENCE_MIN) < 0) {
      problems.add(invalid("silence", "must be at least 1s"));
    }
    var url = problems.collect(() -> url(section.url()));
    return url == null
        ? AgentConfigReader.INVALID
        : new Config.AgentKind.Proxy(new ProxySettings(url, silence));
  }

  /// Parses the address in `url`.
  static URI url(@Nullable String text) {
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
}
