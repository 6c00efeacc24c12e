package dev.parley.http;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// How the listener meets clients: TLS, if it terminates TLS itself, and the proxies in front of it.
public record EdgeSettings(@Nullable TlsFiles tls, TrustedProxies proxies) {

  /// Plain HTTP, and possibly a proxy on the same machine.
  public static final EdgeSettings DEFAULTS = new EdgeSettings(null, TrustedProxies.LOOPBACK);

  /// The PEM files of the certificate chain and of its private key. `hsts` is how long browsers must
  /// use TLS for this host; zero if they are not told.
  public record TlsFiles(Path certificate, Path key, Duration hsts) {

    /// Checks that these files can be used.
    ///
    /// @throws dev.parley.protocol.Rejection.Invalid if they cannot; the message says why
    public void check() {
      PemCertificate.read(certificate, key);
    }
  }
}
