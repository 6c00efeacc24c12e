package dev.parley.server;

import dev.parley.protocol.Json;
import dev.parley.runtime.ManualTime;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Sends requests and frames that a seed chooses, and checks every reply.
///
/// The seed and the number of a request decide what it is, except for ids that the server chose.
final class FuzzClient {

  private static final Pattern VARIABLE = Pattern.compile("\\{([^}]+)}");
  private static final List<String> METHODS =
      List.of("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "X");
  private static final Set<String> NEEDED = Set.of("EIO", "transport", "conversationId");

  /// Variables that need not belong to the other ids of a path.
  private static final Set<String> AGENT = Set.of("agent", "agentTypeId", "tenant");

  private static final int CONTEXT_EVERY = 100;
  private static final String SOCKET_IO = "/socket.io/?EIO=4&transport=";

  /// What a reply to an error may not contain: it would show the inside of the server.
  private static final Pattern INSIDE =
      Pattern.compile("dev\\.parley\\.|Exception|\\tat |org\\.eclipse|tools\\.jackson|java\\.lang");

  /// Who sends the requests, and what nobody may send to that person.
  record FuzzTarget(int port, ManualTime time, String token, String secret) {}

  private final FuzzTarget target;
  private final List<FuzzOperation> operations;
  private final FuzzIds ids;
  private final long seed;
  private final Set<String> succeeded = ConcurrentHashMap.newKeySet();

  FuzzClient(FuzzTarget target, List<FuzzOperation> operations, FuzzIds ids, long seed) {
    this.target = target;
    this.operations = operations;
    this.ids = ids;
    this.seed = seed;
  }

  /// The operations of which a request succeeded.
  Set<String> succeeded() {
    return Set.copyOf(succeeded);
  }

  /// Sends request number `number`.
  void send(int number) throws IOException {
    var random = new SplittableRandom(seed * 1_000_003 + number);
    var operation = operations.get(random.nextInt(operations.size()));
    var variables = VARIABLE.matcher(operation.path()).results().map(match -> match.group(1));
    var values =
        new FuzzValues(random, ids, variables.filter(name -> !AGENT.contains(name)).toList());
    if (number % CONTEXT_EVERY == 0) {
      // Contexts are deleted by some requests, and a name cannot be used again.
      ids.addContext("fuzz-" + number);
    }
    if (operation.method().equals("DELETE") && values.plausible() && !values.once(8)) {
      return; // Otherwise little would be left for other requests.
    }
    if (operation.socket() && values.once(2)) {
      socket(values, operation.path(), number);
    } else if (values.once(60)) {
      socket(values, SOCKET_IO + "websocket", number);
    } else if (values.once(60)) {
      poll(values, number);
    } else {
      request(values, operation, number);
    }
  }

  private void request(FuzzValues values, FuzzOperation operation, int number) throws IOException {
    var body = body(values, operation);
    var malformed = values.wrongOnce(12);
    var head = head(values, operation, body.length, malformed);
    try (var connection = new FuzzConnection(target.port(), target.time())) {
      connection.send(head.getBytes(StandardCharsets.UTF_8));
      connection.send(body);
      if (malformed) {
        connection.end();
      }
      var reply = connection.reply();
      check(number, head, body, reply, malformed || body.length >= 1 << 20);
      if (reply.status() < 300 && head.startsWith(operation.method() + " ")) {
        succeeded.add(operation.toString());
      }
      collect(reply.body());
    }
  }

  private String head(FuzzValues values, FuzzOperation operation, int length, boolean malformed) {
    var method = values.wrongOnce(10) ? values.any(METHODS) : operation.method();
    var head = new StringBuilder(method + " " + uri(values, operation) + " HTTP/1.1\r\n");
    head.append("Host: ")
        .append(values.wrongOnce(25) ? "evil.example" : "localhost")
        .append("\r\n");
    if (values.once(10)) {
      head.append("Connection: close\r\n");
    }
    if (!values.wrongOnce(8)) {
      var token = values.wrongOnce(30) ? "wrong" : target.token();
      head.append("Authorization: Bearer ").append(token).append("\r\n");
    }
    for (var parameter : operation.parameters()) {
      if (parameter.header() && values.present()) {
        header(head, parameter.name(), values.text(parameter.name()));
      }
    }
    if (values.wrongOnce(3)) {
      var name =
          values.any(
              List.of(
                  "Idempotency-Key",
                  "Last-Event-ID",
                  "A2A-Version",
                  "A2A-Extensions",
                  "Accept",
                  "Cookie",
                  "Origin",
                  "Sec-Fetch-Site",
                  "X-Forwarded-For",
                  "X-Forwarded-Proto",
                  "Forwarded",
                  "Range",
                  "Upgrade",
                  "Content-Encoding"));
      header(head, name, values.text(name));
    }
    if (length > 0) {
      header(head, "Content-Type", values.wrongOnce(15) ? "text/plain" : "application/json");
    }
    framing(values, head, length, malformed);
    return head.append("\r\n").toString();
  }

  private static void framing(FuzzValues values, StringBuilder head, int length, boolean bad) {
    if (!bad) {
      header(head, "Content-Length", Integer.toString(length));
      return;
    }
    switch (values.below(5)) {
      case 0 -> header(head, "Content-Length", Integer.toString(length + 10));
      case 1 -> header(head, "Content-Length", Integer.toString(Math.max(0, length - 3)));
      case 2 -> header(head, "Content-Length", "-1");
      case 3 -> header(head, "Transfer-Encoding", "chunked");
      default -> head.append("Bad Header\r\n");
    }
  }

  /// A header cannot contain line breaks: these would begin another one.
  private static void header(StringBuilder head, String name, String value) {
    head.append(name).append(": ").append(value.replaceAll("[\r\n]", "")).append("\r\n");
  }

  private static String uri(FuzzValues values, FuzzOperation operation) {
    var path =
        VARIABLE
            .matcher(operation.path())
            .replaceAll(match -> encoded(values.variable(match.group(1))).replace("$", "%24"));
    var query = new StringBuilder();
    for (var parameter : operation.parameters()) {
      if (!parameter.header() && (values.present() || NEEDED.contains(parameter.name()))) {
        query.append('&').append(encoded(parameter.name())).append('=');
        query.append(encoded(values.text(parameter.name())));
      }
    }
    if (values.wrongOnce(12)) {
      query.append('&').append(values.any(List.of("unknown=1", "=", "%zz=1", "a", "limit=1")));
    }
    return path + (query.isEmpty() ? "" : "?" + query.substring(1));
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static byte[] body(FuzzValues values, FuzzOperation operation) {
    var mayHaveBody = !operation.method().equals("GET") && !operation.method().equals("DELETE");
    if (!mayHaveBody && !values.wrongOnce(15)) {
      return new byte[0];
    }
    if (values.wrongOnce(150)) {
      return values.large();
    }
    JsonNode body =
        operation.body() == null
            ? new FuzzTemplates(values).body(operation.path())
            : values.fitting("body", operation.body(), 0);
    for (var changes = values.plausible() ? 0 : values.below(4); changes > 0; changes--) {
      values.change(body);
    }
    var bytes = body.toString().getBytes(StandardCharsets.UTF_8);
    return values.wrongOnce(6) ? values.garble(bytes) : bytes;
  }

  /// Opens a WebSocket, sends frames, and expects that the server ends the connection.
  private void socket(FuzzValues values, String path, int number) throws IOException {
    try (var connection = new FuzzConnection(target.port(), target.time())) {
      var head =
          "GET "
              + path
              + " HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
              + ("Authorization: Bearer " + target.token() + "\r\n\r\n");
      connection.send(head.getBytes(StandardCharsets.UTF_8));
      var reply = connection.reply();
      check(number, head, new byte[0], reply, false);
      if (reply.status() != 101) {
        return;
      }
      succeeded.add("GET " + path);
      var templates = new FuzzTemplates(values);
      var frames = new StringBuilder();
      if (path.startsWith("/socket.io") && !values.once(4)) {
        connection.send(frame(0x81, "40".getBytes(StandardCharsets.UTF_8)));
      }
      for (var count = 1 + values.below(12); count > 0; count--) {
        var text = templates.frame(path);
        frames.append(text).append('\n');
        connection.send(frame(values, text.getBytes(StandardCharsets.UTF_8)));
      }
      connection.send(frame(0x88, new byte[] {0x03, (byte) 0xe8}));
      var rest = connection.rest(false);
      checkText(number, head + frames, rest);
    }
  }

  private static byte[] frame(FuzzValues values, byte[] text) {
    var payload = values.wrongOnce(8) ? values.garble(text) : text;
    return switch (values.plausible() ? -1 : values.below(14)) {
      case 0 -> frame(0x82, payload);
      case 1 -> frame(0x01, payload);
      case 2 -> frame(0x80, payload);
      case 3 -> frame(0xc1, payload);
      case 4 -> frame(0x89, payload);
      case 5 -> frame(0x8f, payload);
      case 6 -> frame(0x88, payload);
      case 7 -> values.garble(frame(0x81, payload));
      case 8 -> frame(0x81, values.large());
      default -> frame(0x81, payload);
    };
  }

  /// A masked frame; the mask is zero.
  private static byte[] frame(int first, byte[] payload) {
    var frame = new ByteArrayOutputStream();
    frame.write(first);
    if (payload.length < 126) {
      frame.write(0x80 | payload.length);
    } else if (payload.length < 1 << 16) {
      frame.write(0x80 | 126);
      frame.writeBytes(ByteBuffer.allocate(2).putShort((short) payload.length).array());
    } else {
      frame.write(0x80 | 127);
      frame.writeBytes(ByteBuffer.allocate(8).putLong(payload.length).array());
    }
    frame.writeBytes(new byte[4]);
    frame.writeBytes(payload);
    return frame.toByteArray();
  }

  /// A Socket.IO connection by polling: opens it, sends packets, and reads what there is.
  private void poll(FuzzValues values, int number) throws IOException {
    var opened = exchange(number, "GET", SOCKET_IO + "polling", "");
    var sid = opened.body().replaceFirst("(?s).*\"sid\":\"([^\"]+)\".*", "$1");
    if (sid.equals(opened.body())) {
      return;
    }
    var path = SOCKET_IO + "polling&sid=" + sid;
    exchange(number, "POST", path, "40");
    var templates = new FuzzTemplates(values);
    for (var count = values.below(4); count >= 0; count--) {
      var packets = templates.packet() + (values.once(3) ? "\u001e" + templates.packet() : "");
      exchange(number, "POST", path, packets);
      exchange(number, "GET", path, "");
    }
    exchange(number, "POST", path, "1");
  }

  private FuzzConnection.RawReply exchange(int number, String method, String path, String body)
      throws IOException {
    var bytes = body.getBytes(StandardCharsets.UTF_8);
    var head =
        method
            + (" " + path + " HTTP/1.1\r\nHost: localhost\r\n")
            + ("Authorization: Bearer " + target.token() + "\r\nContent-Type: text/plain\r\n")
            + ("Content-Length: " + bytes.length + "\r\n\r\n");
    try (var connection = new FuzzConnection(target.port(), target.time())) {
      connection.send(head.getBytes(StandardCharsets.UTF_8));
      connection.send(bytes);
      var reply = connection.reply();
      check(number, head, bytes, reply, false);
      if (reply.status() == 200) {
        succeeded.add(method + " /socket.io/");
      }
      return reply;
    }
  }

  private void check(
      int number, String head, byte[] body, FuzzConnection.RawReply reply, boolean mayClose) {
    var sent = head + new String(body, 0, Math.min(body.length, 4_000), StandardCharsets.UTF_8);
    if (reply.status() == 0 && !mayClose) {
      throw failure(number, "no reply", sent, reply.head());
    }
    // 503 means that something took too long, which is right when the clients move time.
    if (reply.status() >= 500 && reply.status() != 503) {
      throw failure(number, "status " + reply.status(), sent, reply.body());
    }
    if (reply.status() >= 400 && INSIDE.matcher(reply.head() + reply.body()).find()) {
      throw failure(number, "an error that shows the inside of the server", sent, reply.body());
    }
    checkText(number, sent, reply.head() + reply.body());
  }

  private void checkText(int number, String sent, String received) {
    if (received.contains(target.secret())) {
      throw failure(number, "another person's text", sent, received);
    }
  }

  private AssertionError failure(int number, String what, String sent, String received) {
    var text = received.length() > 2_000 ? received.substring(0, 2_000) + " …" : received;
    return new AssertionError(
        "%s%nseed %d, request %d:%n%s%nreply:%n%s".formatted(what, seed, number, sent, text));
  }

  private void collect(String body) {
    for (var line : body.split("\n", 40)) {
      var json = line.startsWith("data: ") ? line.substring(6) : line;
      if (json.startsWith("{") || json.startsWith("[")) {
        try {
          ids.collect(Json.mapper().readTree(json));
        } catch (JacksonException cutOff) {
          // The last line of a stream may be incomplete.
        }
      }
    }
  }
}
