package dev.parley.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/// A self-signed certificate.
final class SelfSignedCertificate {

  private SelfSignedCertificate() {}

  static SSLContext tls(Path folder)
      throws IOException, InterruptedException, GeneralSecurityException {
    var store = folder.resolve("keys.p12");
    var keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    var made =
        new ProcessBuilder(
                List.of(
                    keytool,
                    "-genkeypair",
                    "-alias",
                    "x",
                    "-keyalg",
                    "EC",
                    "-dname",
                    "CN=127.0.0.1",
                    "-storetype",
                    "PKCS12",
                    "-storepass",
                    "secret",
                    "-keystore",
                    store.toString()))
            .redirectErrorStream(true)
            .start();
    made.getInputStream().readAllBytes();
    assertThat(made.waitFor()).isZero();
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(KeyStore.getInstance(store.toFile(), "secret".toCharArray()), "secret".toCharArray());
    var tls = SSLContext.getInstance("TLS");
    tls.init(keys.getKeyManagers(), null, null);
    return tls;
  }
}
