package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.WebSocketTestClient;
import dev.parley.protocol.Json;
import dev.parley.socketio.NodeTestClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// Agents by socket, with the socket: a real client of Socket.IO, and a plain WebSocket.
class AgentSocketsTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  /// AGENT-53, AGENT-59, AGENT-60, AGENT-64, AGENT-96.
  @ParameterizedTest
  @ValueSource(
      strings = {"{}", "{\"transports\":[\"polling\"]}", "{\"transports\":[\"websocket\"]}"})
  void a_client_that_subscribes_hears_what_rest_has(String options) throws Exception {
    var agent = launch("count slowly to 30");
    try (var peer = new NodeTestClient("socket-io.mjs", testServer.url.toString(), options)) {
      peer.send("{\"do\":\"connect\",\"name\":\"a\"}");
      peer.next(fact -> fact.path("event").asString().equals("connected"));
      peer.send(
          "{\"do\":\"ask\",\"name\":\"a\",\"event\":\"subscribe\",\"args\":[{\"agentId\":\""
              + agent
              + "\"}]}");
      var heard = new ArrayList<JsonNode>();
      for (var fact = peer.next(); !name(fact).equals("agent:complete"); fact = peer.next()) {
        if (name(fact).equals("agent:message")) {
          heard.add(fact.at("/args/0/message"));
        }
      }

      assertThat(heard).isEqualTo(messages(agent));
      assertThat(heard.stream().map(message -> message.path("sequenceNumber").asInt()))
          .isEqualTo(java.util.stream.IntStream.rangeClosed(1, heard.size()).boxed().toList());
    }
  }

  @Test
  void a_plain_websocket_hears_the_same() throws Exception {
    var agent = launch("count to 5");
    try (var socket = new WebSocketTestClient(testServer.url.getPort(), "/api/agents/ws")) {
      assertThat(socket.json().path("event").asString()).isEqualTo("connected");
      socket.send(
          "{\"event\":\"subscribe\",\"data\":{\"agentId\":\"" + agent + "\"},\"id\":\"s\"}");
      var heard = new ArrayList<JsonNode>();
      var acknowledged = false;
      for (var said = socket.json();
          !said.path("event").asString("").equals("agent:complete");
          said = socket.json()) {
        acknowledged |= said.path("ack").asString("").equals("s");
        if (said.path("event").asString("").equals("agent:message")) {
          heard.add(said.at("/data/message"));
        }
      }
      assertThat(acknowledged).isTrue();
      assertThat(heard).isEqualTo(messages(agent));
    }
  }

  private static String name(JsonNode fact) {
    return fact.path("event").asString("");
  }

  private String launch(String prompt) {
    var reply =
        testServer.post("/api/agents", "{\"type\":\"agent-code\",\"prompt\":\"" + prompt + "\"}");
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(201);
    return Json.mapper().readTree(reply.body()).path("agentId").asString();
  }

  private List<JsonNode> messages(String agent) {
    var body = Json.mapper().readTree(testServer.get("/api/agents/" + agent + "/messages").body());
    return (body.isArray() ? body : body.path("messages")).valueStream().toList();
  }
}
