package dev.parley.http;

import dev.parley.http.EdgeSettings.TlsFiles;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Objects;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/// The certificate of the listener, read from files again when they have changed.
///
/// A handshake checks the files, at most once a second. Connections that exist keep the certificate
/// that they began with. Files that cannot be used, for example because only one of them has been
/// replaced so far, change nothing. The monitor guards the fields.
final class CertificateFiles extends X509ExtendedKeyManager {

  private static final System.Logger LOG = System.getLogger(CertificateFiles.class.getName());
  private static final long CHECK_NANOS = Duration.ofSeconds(1).toNanos();
  private static final Duration EXPIRY_NOTICE = Duration.ofDays(14);

  private final TlsFiles files;
  private final Time time;
  private PemCertificate current;

  /// A handshake asks for the certificate and for the key one after the other; both must match.
  private @Nullable PemCertificate previous;

  private int version = 1;
  private FileStates states;
  private long checkedNanos;

  /// Identifies the content of the two files without reading them.
  private record FileStates(@Nullable Object certificate, @Nullable Object key) {

    static FileStates of(TlsFiles files) {
      return new FileStates(state(files.certificate()), state(files.key()));
    }

    private static @Nullable Object state(Path file) {
      try {
        var attributes = Files.readAttributes(file, BasicFileAttributes.class);
        return attributes.lastModifiedTime()
            + " "
            + attributes.size()
            + " "
            + Objects.toString(attributes.fileKey());
      } catch (IOException missing) {
        return null;
      }
    }
  }

  /// @throws Rejection.Invalid if the files cannot be used; the message says why
  CertificateFiles(TlsFiles files, Time time) {
    this.files = files;
    this.time = time;
    states = FileStates.of(files);
    current = PemCertificate.read(files.certificate(), files.key());
    checkedNanos = time.nanos();
    warnOfExpiry(current);
  }

  /// A context that uses the newest certificate for each handshake.
  SSLContext context() {
    try {
      var context = SSLContext.getInstance("TLS");
      context.init(new KeyManager[] {this}, null, null);
      return context;
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException(missing);
    }
  }

  /// Reads the files again if they have changed since the last check.
  private void refresh() {
    var now = time.nanos();
    if (now - checkedNanos < CHECK_NANOS) {
      return;
    }
    checkedNanos = now;
    var found = FileStates.of(files);
    if (found.equals(states)) {
      return;
    }
    states = found;
    try {
      var read = PemCertificate.read(files.certificate(), files.key());
      previous = current;
      current = read;
      version++;
      LOG.log(
          Level.INFO,
          "the TLS certificate was read again; it is valid until {0}",
          read.chain().getFirst().getNotAfter().toInstant());
      warnOfExpiry(read);
    } catch (Rejection.Invalid unusable) {
      LOG.log(
          Level.WARNING,
          "the TLS certificate has changed, but the new one cannot be used: {0}",
          unusable.getMessage());
    }
  }

  private void warnOfExpiry(PemCertificate certificate) {
    var end = certificate.chain().getFirst().getNotAfter().toInstant();
    if (time.instant().plus(EXPIRY_NOTICE).isAfter(end)) {
      LOG.log(Level.WARNING, "the TLS certificate in {0} ends {1}", files.certificate(), end);
    }
  }

  @Override
  public synchronized @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
    refresh();
    return keyType.equals(current.key().getAlgorithm()) ? Integer.toString(version) : null;
  }

  private synchronized @Nullable PemCertificate find(String alias) {
    if (alias.equals(Integer.toString(version))) {
      return current;
    }
    return alias.equals(Integer.toString(version - 1)) ? previous : null;
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    var found = find(alias);
    return found == null ? null : found.chain().toArray(X509Certificate[]::new);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    var found = find(alias);
    return found == null ? null : found.key();
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    var alias = chooseEngineServerAlias(keyType, issuers, null);
    return alias == null ? null : new String[] {alias};
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return chooseEngineServerAlias(keyType, issuers, null);
  }

  /// This server's listener is never a client.
  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return null;
  }
}
