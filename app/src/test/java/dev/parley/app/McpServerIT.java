package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The MCP server with the real program: over standard input and output, and after a kill.
@Timeout(180)
class McpServerIT {

  @TempDir Path folder;
  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void the_client_of_the_sdk_uses_agents_over_standard_input_and_output() throws Exception {
    var data = folder.resolve("data");
    try (var server = RealProcess.serve(data)) {
      assertThat(server.url()).isNotNull();
      var command = new ArrayList<>(List.of("node", client().toString(), "stdio"));
      command.addAll(RealProcess.java(List.of()));
      command.addAll(List.of("mcp", "--data", data.toString()));
      var printed = folder.resolve("printed.txt");
      var process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(printed.toFile())
              .start();
      assertThat(process.waitFor()).as(Files.readString(printed)).isZero();
    }
  }

  @Test
  void a_call_continues_after_the_server_was_killed() throws Exception {
    var data = folder.resolve("data");
    String lastId;
    String session;
    try (var server = RealProcess.serve(data)) {
      var opened =
          http.send(
              post(server.url(), "", request(1, "initialize", Json.object())),
              BodyHandlers.ofString());
      session = opened.headers().firstValue("Mcp-Session-Id").orElseThrow();
      var params = Json.object().put("name", "agent-code");
      params.putObject("arguments").put("message", "count slowly to 40");
      try (var lines = lines(post(server.url(), session, request(2, "tools/call", params)))) {
        lastId =
            lines
                .filter(line -> line.startsWith("id: "))
                .map(line -> line.substring("id: ".length()))
                .findFirst()
                .orElseThrow();
        server.kill();
      }
    }
    try (var server = RealProcess.serve(data)) {
      var again =
          HttpRequest.newBuilder(server.url().resolve("/mcp"))
              .header("Accept", "text/event-stream")
              .header("Mcp-Session-Id", session)
              .header("Last-Event-ID", lastId)
              .build();
      try (var lines = lines(again)) {
        var result = result(lines);
        assertThat(result.path("id").asInt()).isEqualTo(2);
        assertThat(result.path("result").path("content").path(0).path("text").asString())
            .startsWith("1 2 3")
            .endsWith("39 40");
      }
    }
  }

  private static JsonNode result(Stream<String> lines) {
    return lines
        .filter(line -> line.startsWith("data: {"))
        .map(line -> Json.mapper().readTree(line.substring("data: ".length())))
        .filter(message -> message.has("result"))
        .findFirst()
        .orElseThrow();
  }

  private static ObjectNode request(int id, String method, ObjectNode params) {
    var json = Json.object().put("jsonrpc", "2.0").put("id", id).put("method", method);
    return json.set("params", params);
  }

  private static HttpRequest post(URI server, String session, ObjectNode body) {
    var request =
        HttpRequest.newBuilder(server.resolve("/mcp"))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .POST(BodyPublishers.ofString(body.toString()));
    return (session.isEmpty() ? request : request.header("Mcp-Session-Id", session)).build();
  }

  private Stream<String> lines(HttpRequest request) throws IOException, InterruptedException {
    return http.send(request, BodyHandlers.ofLines()).body();
  }

  private static Path client() {
    var given = System.getProperty("parley.peers");
    var peers = given == null ? SourceFile.root().resolve("peers") : Path.of(given);
    return peers.resolve("mcp-clients").resolve("client.mjs");
  }
}
