package dev.parley.app;

import dev.parley.client.ClientSettings;
import dev.parley.protocol.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;

/// Passes messages of MCP between standard input and output and `/mcp` of a server. A stream that
/// breaks is continued after its last frame.
///
/// Each request has a virtual thread. The monitor guards the output and the session.
final class McpStdioBridge implements AutoCloseable {

  private static final String SESSION = "Mcp-Session-Id";
  private static final String EVENTS = "text/event-stream";
  private static final Duration DELAY = Duration.ofMillis(500);
  private static final int PARSE_ERROR = -32700;
  private static final int UNREACHABLE = -32000;

  private final ClientSettings settings;
  private final PrintStream out;
  private final HttpClient http;
  private final URI address;
  private @Nullable String session;

  McpStdioBridge(ClientSettings settings, PrintStream out) {
    this.settings = settings;
    this.out = out;
    var client = HttpClient.newBuilder().connectTimeout(settings.connectTimeout());
    this.http = settings.tls() == null ? client.build() : client.sslContext(settings.tls()).build();
    var base = settings.url().toString();
    this.address = URI.create(base.endsWith("/") ? base + "mcp" : base + "/mcp");
  }

  /// Passes messages until the input ends. Tasks of calls that are open then continue.
  void run(InputStream in) throws IOException {
    var lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      var message = line;
      if (!message.isBlank()) {
        Thread.ofVirtual().name("parley-mcp-request").start(() -> pass(message));
      }
    }
  }

  private void pass(String line) {
    JsonNode message;
    try {
      message = Json.mapper().readTree(line);
    } catch (JacksonException malformed) {
      error(NullNode.getInstance(), PARSE_ERROR, "the line is no JSON");
      return;
    }
    var id = message.path("id");
    try {
      send(line, id);
    } catch (IOException unreachable) {
      if (message.has("method") && !id.isMissingNode()) {
        error(id, UNREACHABLE, "no Parley server answers at " + settings.url());
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(String line, JsonNode id) throws IOException, InterruptedException {
    var request =
        request().header("Content-Type", "application/json").POST(BodyPublishers.ofString(line));
    var response = http.send(request.build(), BodyHandlers.ofInputStream());
    try (var body = response.body()) {
      response.headers().firstValue(SESSION).ifPresent(this::session);
      if (isStream(response)) {
        var last = read(body, "");
        if (last != null) {
          follow(last);
        }
        return;
      }
      var text = new String(body.readAllBytes(), StandardCharsets.UTF_8).strip();
      if (response.statusCode() == 200) {
        print(text);
      } else if (response.statusCode() >= 400 && !id.isMissingNode()) {
        error(id, UNREACHABLE, "the server rejected the message: " + reason(text));
      }
    }
  }

  private static String reason(String text) {
    try {
      return Json.mapper().readTree(text).path("error").path("message").asString(text);
    } catch (JacksonException noJson) {
      return text;
    }
  }

  private static boolean isStream(HttpResponse<?> response) {
    return response
        .headers()
        .firstValue("Content-Type")
        .filter(type -> type.startsWith(EVENTS))
        .isPresent();
  }

  private HttpRequest.Builder request() {
    var request = HttpRequest.newBuilder(address).header("Accept", "application/json, " + EVENTS);
    if (settings.token() != null) {
      request.header("Authorization", "Bearer " + settings.token());
    }
    var known = session();
    return known == null ? request : request.header(SESSION, known);
  }

  private synchronized @Nullable String session() {
    return session;
  }

  private synchronized void session(String id) {
    session = id;
  }

  /// Prints the messages of a stream. Returns null after the result of the call, or else the id of
  /// the last frame, from which the stream can be continued.
  private @Nullable String read(InputStream body, String from) {
    var last = from;
    var id = from;
    try {
      var lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("id: ")) {
          id = line.substring("id: ".length());
        } else if (line.startsWith("data: ")) {
          var data = line.substring("data: ".length());
          last = id;
          if (!data.isBlank()) {
            print(data);
            var message = Json.mapper().readTree(data);
            if (message.has("result") || message.has("error")) {
              return null;
            }
          }
        }
      }
    } catch (IOException broken) {
      // The stream is continued.
    }
    return last;
  }

  private void follow(String from) throws InterruptedException {
    var last = from;
    while (last != null) {
      Thread.sleep(DELAY);
      try {
        var response =
            http.send(
                request().header("Last-Event-ID", last).GET().build(),
                BodyHandlers.ofInputStream());
        try (var body = response.body()) {
          if (isStream(response)) {
            last = read(body, last);
          } else if (response.statusCode() < 500) {
            // The context was deleted, or the caller may not read it any more.
            return;
          }
        }
      } catch (IOException unreachable) {
        settings.notice().accept("it does not answer");
      }
    }
  }

  private void error(JsonNode id, int code, String text) {
    var json = Json.object().put("jsonrpc", "2.0").set("id", id);
    json.putObject("error").put("code", code).put("message", text);
    print(json.toString());
  }

  private synchronized void print(String message) {
    out.println(message);
    out.flush();
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
