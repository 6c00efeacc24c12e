package dev.parley.app;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/// Trusts exactly the certificate in a file, under any host name: that of the server which uses the
/// same data folder, whose certificate may be for a public name or signed by itself.
final class PinnedCertificate extends X509ExtendedTrustManager {

  private final X509Certificate pinned;

  private PinnedCertificate(X509Certificate pinned) {
    this.pinned = pinned;
  }

  /// A context that trusts only the first certificate in this PEM file.
  ///
  /// @throws CommandExit if the file cannot be read
  static SSLContext context(Path file) {
    try (var in = Files.newInputStream(file)) {
      var certificate =
          (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
      var context = SSLContext.getInstance("TLS");
      context.init(
          null, new TrustManager[] {new PinnedCertificate(certificate)}, new SecureRandom());
      return context;
    } catch (IOException | GeneralSecurityException unreadable) {
      throw new CommandExit(
          CommandExit.FAILED,
          "The certificate of the server, %s, cannot be read: %s. Pass --url with the public address of the server."
              .formatted(file, unreadable.getMessage()));
    }
  }

  private void check(X509Certificate[] chain) throws CertificateException {
    if (!chain[0].equals(pinned)) {
      throw new CertificateException(
          "the server does not have the certificate of its configuration");
    }
    chain[0].checkValidity();
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    throw new CertificateException("there are no clients");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw new CertificateException("there are no clients");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    throw new CertificateException("there are no clients");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
