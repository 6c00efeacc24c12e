package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.notOneOf;

import dev.parley.audit.AuditSettings;
import dev.parley.http.EdgeSettings;
import dev.parley.http.EdgeSettings.TlsFiles;
import dev.parley.http.TrustedProxies;
import dev.parley.net.AddressRange;
import dev.parley.protocol.Rejection;
import dev.parley.server.ConfigFile.TlsSection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the sections about TLS, trusted proxies and the audit trail.
final class EdgeConfigReader {

  private static final Duration HSTS = Duration.ofDays(365);
  private static final List<String> HEADERS = List.of("x-forwarded", "forwarded");

  private final Path folder;
  private final ConfigProblems problems;

  /// @param folder the folder that paths are relative to
  EdgeConfigReader(Path folder, ConfigProblems problems) {
    this.folder = folder;
    this.problems = problems;
  }

  EdgeSettings read(ConfigFile file) {
    return new EdgeSettings(tls(file.tls()), proxies(file));
  }

  static AuditSettings audit(ConfigFile file) {
    var section = file.audit();
    var usual = AuditSettings.DEFAULTS;
    return section == null
        ? usual
        : new AuditSettings(
            or(section.enabled(), usual.enabled()),
            or(section.retention(), usual.retention()),
            or(section.required(), usual.required()));
  }

  private @Nullable TlsFiles tls(@Nullable TlsSection section) {
    if (section == null) {
      return null;
    }
    var certificate = section.certificate();
    var key = section.key();
    if (certificate == null || key == null) {
      problems.add(
          invalid("tls", "needs certificate and key: the names of two files in PEM format"));
      return null;
    }
    var files =
        new TlsFiles(folder.resolve(certificate), folder.resolve(key), or(section.hsts(), HSTS));
    try {
      files.check();
    } catch (Rejection.Invalid unusable) {
      problems.add(invalid("tls", String.valueOf(unusable.getMessage())));
    }
    return files;
  }

  private TrustedProxies proxies(ConfigFile file) {
    var header = file.proxyHeader();
    if (header != null && !HEADERS.contains(header)) {
      problems.add(notOneOf("proxyHeader", header, HEADERS));
    }
    var texts = file.trustedProxies();
    if (texts == null) {
      if (header != null) {
        problems.add(
            invalid(
                "proxyHeader", "needs trustedProxies: the addresses of the proxies that set it"));
      }
      return TrustedProxies.LOOPBACK;
    }
    var ranges = new ArrayList<AddressRange>();
    for (var i = 0; i < texts.size(); i++) {
      try {
        ranges.add(AddressRange.parse(texts.get(i)));
      } catch (Rejection.Invalid malformed) {
        problems.add(invalid("trustedProxies[" + i + "]", String.valueOf(malformed.getMessage())));
      }
    }
    return new TrustedProxies(ranges, true, HEADERS.getLast().equals(header));
  }
}
