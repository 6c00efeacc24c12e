package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// A self-signed certificate for 127.0.0.1 and `localhost`, and its key, in PEM format.
public record TestCertificate(X509Certificate certificate, String certificatePem, String keyPem) {

  private static final char[] PASSWORD = "secret".toCharArray();

  /// Creates a key of this kind: EC or RSA.
  public static TestCertificate create(Path folder, String kind) {
    try {
      var store = Files.createTempDirectory(folder, "keys").resolve("keys.p12");
      var keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
      var arguments =
          List.of(
              keytool,
              "-genkeypair",
              "-alias",
              "x",
              "-keyalg",
              kind,
              "-dname",
              "CN=localhost",
              "-ext",
              "san=ip:127.0.0.1,dns:localhost",
              "-storetype",
              "PKCS12",
              "-storepass",
              new String(PASSWORD),
              "-keystore",
              store.toString());
      var made = new ProcessBuilder(arguments).redirectErrorStream(true).start();
      var output = new String(made.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(made.waitFor()).as(output).isZero();
      var keys = KeyStore.getInstance(store.toFile(), PASSWORD);
      var certificate = (X509Certificate) keys.getCertificate("x");
      return new TestCertificate(
          certificate,
          pem("CERTIFICATE", certificate.getEncoded()),
          pem("PRIVATE KEY", keys.getKey("x", PASSWORD).getEncoded()));
    } catch (IOException | GeneralSecurityException | InterruptedException failed) {
      throw new AssertionError(failed);
    }
  }

  private static String pem(String type, byte[] bytes) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(type, Base64.getMimeEncoder().encodeToString(bytes), type);
  }

  /// A context for clients that trust only this certificate.
  public SSLContext trusting() {
    try {
      var store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      store.setCertificateEntry("x", certificate);
      var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      var tls = SSLContext.getInstance("TLS");
      tls.init(null, trust.getTrustManagers(), null);
      return tls;
    } catch (IOException | GeneralSecurityException failed) {
      throw new AssertionError(failed);
    }
  }
}
