package dev.parley.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A listener that terminates TLS, through real sockets.
class TlsListenerTest {

  private static final String REQUEST = "GET /secure HTTP/1.1\r\nHost: localhost\r\n\r\n";

  private static TestCertificate first;
  private static TestCertificate second;

  @TempDir Path folder;
  private final ManualTime time = new ManualTime();
  private final CountDownLatch readerLeft = new CountDownLatch(1);
  private Path certificate;
  private Path key;
  private HttpListener listener;

  @BeforeAll
  static void certificates(@TempDir Path keys) {
    first = TestCertificate.create(keys, "EC");
    second = TestCertificate.create(keys, "RSA");
  }

  @BeforeEach
  void open() throws IOException {
    certificate = folder.resolve("cert.pem");
    key = folder.resolve("key.pem");
    write(first);
    listener = listener(Duration.ofSeconds(60), Duration.ofSeconds(60));
  }

  @AfterEach
  void close() {
    listener.close();
  }

  private HttpListener listener(Duration stall, Duration bodyTime) {
    var settings =
        new HttpSettings(
            "127.0.0.1",
            0,
            Set.of(),
            Set.of(),
            List.of(),
            Duration.ZERO,
            new HttpLimits(1 << 20, 100, stall, bodyTime),
            new EdgeSettings(
                new EdgeSettings.TlsFiles(certificate, key, Duration.ofDays(365)),
                TrustedProxies.LOOPBACK));
    var made =
        new HttpListener(
            new HttpListener.HttpListenerDependencies(
                settings,
                new Metrics(),
                new OpenStreams(10, time),
                time,
                new SystemThreads(),
                UUID::randomUUID),
            List.of(
                Route.get(
                    "/secure",
                    "Tells whether the request is secure",
                    ResponseDescription.empty(),
                    request ->
                        new Reply.Bytes(
                            "text/plain",
                            Boolean.toString(request.secure()).getBytes(StandardCharsets.UTF_8))),
                Route.get(
                    "/stream",
                    "Writes until its reader leaves",
                    ResponseDescription.empty(),
                    _ -> new Reply.Stream(this::writeUntilReaderLeaves)),
                Route.get(
                    "/flood",
                    "Writes until that fails",
                    ResponseDescription.empty(),
                    _ -> new Reply.Stream(this::writeUntilFailure))));
    made.start();
    return made;
  }

  private void writeUntilReaderLeaves(FrameStream.FrameSink sink) throws IOException {
    var left = new CountDownLatch(1);
    sink.onPossibleDisconnect(left::countDown);
    sink.write(ByteBuffer.wrap(": open\n\n".getBytes(StandardCharsets.UTF_8)));
    try {
      left.await();
      readerLeft.countDown();
    } catch (InterruptedException told) {
      throw new IOException(told);
    }
  }

  private void writeUntilFailure(FrameStream.FrameSink sink) throws IOException {
    try {
      while (true) {
        sink.write(ByteBuffer.allocate(64 * 1024));
      }
    } finally {
      readerLeft.countDown();
    }
  }

  private void write(TestCertificate written) throws IOException {
    Files.writeString(certificate, written.certificatePem());
    Files.writeString(key, written.keyPem());
  }

  private SSLSocket connect(TestCertificate trusted, String... protocols) throws IOException {
    var socket =
        (SSLSocket)
            trusted
                .trusting()
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), listener.port());
    socket.setSoTimeout(30_000);
    if (protocols.length > 0) {
      socket.setEnabledProtocols(protocols);
    }
    socket.startHandshake();
    return socket;
  }

  /// Sends a request and returns the head of the reply and a body of `length` bytes.
  private static String exchange(Socket socket, int length) throws IOException {
    socket.getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
    var reply = new StringBuilder();
    while (!reply.toString().contains("\r\n\r\n")) {
      reply.append((char) socket.getInputStream().read());
    }
    return reply + new String(socket.getInputStream().readNBytes(length), StandardCharsets.UTF_8);
  }

  @Test
  void a_request_over_tls_is_secure_and_browsers_are_told_to_stay_with_it() throws Exception {
    try (var socket = connect(first)) {
      assertThat(exchange(socket, 4))
          .startsWith("HTTP/1.1 200")
          .contains("Strict-Transport-Security: max-age=31536000\r\n")
          .endsWith("true");
    }
  }

  @Test
  void old_protocols_are_rejected() throws Exception {
    try (var socket = connect(first, "TLSv1.2")) {
      assertThat(socket.getSession().getCipherSuite()).contains("GCM").startsWith("TLS_ECDHE");
    }
    assertThatThrownBy(() -> connect(first, "TLSv1.1")).isInstanceOf(IOException.class);
  }

  @Test
  void a_client_that_speaks_plain_http_gets_no_reply() throws Exception {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      socket.setSoTimeout(30_000);
      socket.getOutputStream().write(REQUEST.getBytes(StandardCharsets.US_ASCII));
      var reply = socket.getInputStream().readAllBytes();
      assertThat(new String(reply, StandardCharsets.ISO_8859_1)).doesNotContain("HTTP/1.1 200");
    }
  }

  @Test
  void changed_files_are_used_for_new_connections_and_old_connections_continue() throws Exception {
    try (var before = connect(first)) {
      assertThat(exchange(before, 4)).endsWith("true");
      write(second);
      time.advance(Duration.ofSeconds(2));
      try (var after = connect(second)) {
        assertThat(exchange(after, 4)).endsWith("true");
        assertThat(exchange(before, 4)).endsWith("true");
      }
    }
    assertThatThrownBy(() -> connect(first)).isInstanceOf(SSLException.class);
  }

  @Test
  void files_that_do_not_match_change_nothing_until_both_are_replaced() throws Exception {
    Files.writeString(certificate, second.certificatePem());
    time.advance(Duration.ofSeconds(2));
    connect(first).close();
    Files.writeString(certificate, "nothing");
    time.advance(Duration.ofSeconds(2));
    connect(first).close();
    write(second);
    time.advance(Duration.ofSeconds(2));
    connect(second).close();
  }

  @Test
  void a_reader_of_a_stream_that_leaves_is_noticed() throws Exception {
    try (var socket = connect(first)) {
      socket
          .getOutputStream()
          .write(
              "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      var reply = new StringBuilder();
      while (!reply.toString().contains(": open")) {
        reply.append((char) socket.getInputStream().read());
      }
    }
    readerLeft.await();
  }

  @Test
  void a_reader_that_does_not_read_is_disconnected() throws Exception {
    listener.close();
    listener = listener(Duration.ofMillis(300), Duration.ofSeconds(60));
    try (var socket = connect(first)) {
      socket
          .getOutputStream()
          .write(
              "GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      readerLeft.await();
    }
  }

  @Test
  void a_handshake_that_is_not_completed_in_time_ends_its_connection() throws Exception {
    listener.close();
    listener = listener(Duration.ofSeconds(60), Duration.ofMillis(50));
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
      socket.setSoTimeout(30_000);
      // The begin of a record.
      socket.getOutputStream().write(new byte[] {22, 3, 1});
      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void unusable_files_are_explained() throws Exception {
    var files = new EdgeSettings.TlsFiles(certificate, key, Duration.ZERO);
    Files.writeString(key, second.keyPem());
    assertThatThrownBy(files::check)
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("not of the certificate's kind, EC");
    Files.writeString(key, "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----");
    assertThatThrownBy(files::check).hasMessageContaining("openssl pkcs8 -topk8 -nocrypt");
    Files.writeString(key, "no key");
    assertThatThrownBy(files::check).hasMessageContaining("contains no private key");
    Files.delete(certificate);
    assertThatThrownBy(files::check).hasMessageContaining("cannot be read");
  }
}
