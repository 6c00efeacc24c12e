package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.TestCertificate;
import dev.parley.server.Config;
import dev.parley.server.Server;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A server with a certificate that it signed itself, and its clients.
@Timeout(120)
class TlsCommandsTest {

  private static TestCertificate certificate;
  private static Path data;
  private static Server server;
  private static HttpClient browser;

  @TempDir Path other;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    certificate = TestCertificate.create(folder, "EC");
    var certificateFile =
        Files.writeString(folder.resolve("cert.pem"), certificate.certificatePem());
    Files.writeString(folder.resolve("key.pem"), certificate.keyPem());
    var file =
        Files.writeString(
            folder.resolve("parley.yaml"),
            """
            tls: {certificate: cert.pem, key: key.pem}
            auth: {tokens: [{name: me, sha256: "%s"}]}
            """
                .formatted("2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"));
    data = folder.resolve("data");
    var config =
        Config.load(
                file, new Config.ProcessEnvironment(Map.of(), folder, folder), ProgramModules.ALL)
            .listeningOn("127.0.0.1", 0)
            .keepingDataIn(data);
    server = Server.start(config, ProgramModules.ALL);
    ServerFile.write(data, URI.create(server.url()), null, certificateFile, Instant.now());
    browser = HttpClient.newBuilder().sslContext(certificate.trusting()).build();
  }

  @AfterAll
  static void stop() {
    browser.close();
    server.close();
  }

  @Test
  void commands_on_the_data_folder_trust_the_certificate_of_the_configuration() {
    var terminal = TestTerminal.piped(Map.of("PARLEY_TOKEN", "secret"));
    assertThat(terminal.run("contexts", "--data", data.toString(), "--json"))
        .as(terminal.err())
        .isZero();
  }

  @Test
  void commands_do_not_trust_another_certificate() throws Exception {
    var another = TestCertificate.create(other, "EC");
    var file = Files.writeString(other.resolve("cert.pem"), another.certificatePem());
    ServerFile.write(other, URI.create(server.url()), null, file, Instant.now());
    var terminal = TestTerminal.piped(Map.of("PARLEY_TOKEN", "secret"));

    assertThat(terminal.run("contexts", "--data", other.toString())).isNotZero();
    assertThat(terminal.out()).isEmpty();
  }

  @Test
  void a_login_cookie_is_only_for_tls() throws Exception {
    var reply =
        browser.send(
            HttpRequest.newBuilder(URI.create(server.url() + "/api/login"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"token\":\"secret\"}"))
                .build(),
            BodyHandlers.ofString());

    assertThat(server.url()).startsWith("https://127.0.0.1:");
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    assertThat(reply.headers().firstValue("Set-Cookie").orElseThrow()).endsWith("; Secure");
    assertThat(reply.headers().firstValue("Strict-Transport-Security"))
        .hasValue("max-age=31536000");
  }
}
