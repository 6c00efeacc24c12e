package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.Sha256;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;

/// Every act of a person names them in the event, whichever API they use.
@Timeout(120)
class PrincipalTest {

  private static final String YAML =
      """
      agents: [{id: agent-code, tools: [shell, ask_user]}]
      auth: {tokens: [{name: ann, sha256: "%s"}]}
      """
          .formatted(sha256("ann-token"));

  private static final String[] ANN = {"Authorization", "Bearer ann-token"};

  private static String sha256(String text) {
    return HexFormat.of().formatHex(Sha256.of(text));
  }

  @TempDir Path folder;

  private static HttpResponse<String> send(
      TestServer testServer, String method, String path, String body) {
    var answer =
        testServer.send(
            testServer
                .request(path, ANN)
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body)));
    assertThat(answer.statusCode()).as(method + " " + path + ": " + answer.body()).isLessThan(300);
    return answer;
  }

  private static List<JsonNode> events(TestServer testServer, String context, String kind) {
    return testServer.log.read(new ContextId(context), Position.START, 1000).stream()
        .map(entry -> Json.mapper().readTree(EventJson.text(entry)))
        .filter(event -> event.path("kind").asString().equals(kind))
        .toList();
  }

  private static void named(TestServer testServer, String context, String kind, String field) {
    assertThat(events(testServer, context, kind))
        .as(kind)
        .isNotEmpty()
        .allSatisfy(event -> assertThat(event.path(field).asString("")).isEqualTo("ann"));
  }

  @Test
  void acts_on_the_native_api_name_the_person() throws Exception {
    try (var secretLeaks = new SecretLeaks();
        var testServer = TestServer.configured(folder, YAML)) {
      var ann = new TestUser(testServer, secretLeaks, ANN);
      var c = ann.say("c", "say hello");
      ann.await(c, "task-complete");
      var message = events(testServer, "c", "message").getFirst();
      assertThat(message.path("principal").asString("")).isEqualTo("ann");
      assertThat(events(testServer, "c", "message").getLast().has("principal")).isFalse();
      send(testServer, "PATCH", "/api/contexts/c", "{\"title\":\"Mine\",\"metadata\":{\"a\":1}}");
      var one = "/api/contexts/c/messages/" + message.path("messageId").asString();
      send(testServer, "PATCH", one, "{\"content\":\"say bye\"}");
      send(testServer, "DELETE", one, "");
      send(testServer, "PUT", "/api/contexts/c/artifacts/a1", "{\"text\":\"mine\"}");
      send(testServer, "PUT", "/api/contexts/c/artifacts/a2", "{\"data\":{\"n\":1}}");
      send(testServer, "POST", "/api/contexts/c/fork", "{\"contextId\":\"fork\"}");
      send(testServer, "POST", "/api/contexts/c/rewind", "{\"toSeq\":1}");

      named(testServer, "c", "context-created", "owner");
      named(testServer, "c", "context-updated", "principal");
      named(testServer, "c", "message-updated", "principal");
      named(testServer, "c", "message-deleted", "principal");
      named(testServer, "c", "file-write", "principal");
      named(testServer, "c", "data-write", "principal");
      named(testServer, "c", "context-rewound", "principal");
      named(testServer, "fork", "context-forked", "principal");
    }
  }

  @Test
  void who_answers_or_stops_is_named() throws Exception {
    try (var secretLeaks = new SecretLeaks();
        var testServer = TestServer.configured(folder, YAML)) {
      var ann = new TestUser(testServer, secretLeaks, ANN);
      var call = ann.say("call", "run echo hi");
      var input = ann.await(call, "input-required").path("inputId").asString();
      ann.answer(call, input, BooleanNode.TRUE);
      ann.await(call, "task-complete");
      named(testServer, "call", "input-received", "userId");

      var stopped = ann.say("stopped", "run echo never");
      var asked = ann.await(stopped, "input-required");
      var task = "/api/contexts/stopped/tasks/" + asked.path("taskId").asString();
      var id = asked.path("metadata").path("toolCallId").asString();
      send(testServer, "POST", task + "/tools/" + id + "/cancel", "");
      named(testServer, "stopped", "input-lapsed", "principal");

      var canceled = ann.say("canceled", "run echo never");
      var root = ann.await(canceled, "input-required").path("taskId").asString();
      send(testServer, "POST", "/api/contexts/canceled/tasks/" + root + "/cancel", "");
      named(testServer, "canceled", "cancel-requested", "requestedBy");
    }
  }

  @Test
  void acts_on_other_apis_name_the_person() throws Exception {
    try (var secretLeaks = new SecretLeaks();
        var testServer = TestServer.configured(folder, YAML)) {
      var ann = new TestUser(testServer, secretLeaks, ANN);
      send(
          testServer,
          "POST",
          "/chat/messages",
          "{\"content\":\"say hi\",\"conversationId\":\"chat\"}");
      ann.await(new ContextId("chat"), "task-complete");
      send(testServer, "PATCH", "/chat/conversations/chat", "{\"title\":\"Mine\"}");
      assertThat(events(testServer, "chat", "message").getFirst().path("principal").asString(""))
          .isEqualTo("ann");
      named(testServer, "chat", "context-updated", "principal");

      send(testServer, "POST", "/api/sessions", "{\"id\":\"session\",\"state\":{\"k\":1}}");
      send(testServer, "PUT", "/api/sessions/session", "{\"name\":\"Mine\"}");
      named(testServer, "session", "state-updated", "principal");
      named(testServer, "session", "context-updated", "principal");

      var run =
          "{\"threadId\":\"thread\",\"runId\":\"r\",\"state\":{\"k\":1},\"tools\":[],\"context\":[],\"forwardedProps\":{},\"messages\":[{\"id\":\"m\",\"role\":\"user\",\"content\":\"say"
              + " hi\"}]}";
      send(testServer, "POST", "/ag-ui/agent-code", run);
      named(testServer, "thread", "state-updated", "principal");
      assertThat(events(testServer, "thread", "message").getFirst().path("principal").asString(""))
          .isEqualTo("ann");

      var peer = new A2aTestClient(testServer, "agent-code", "1.0");
      var said = A2aTestClient.in(peer.say("m1", "say hi"), "contextId", "a2a");
      peer.result(peer.sending(), said, ANN);
      assertThat(events(testServer, "a2a", "message").getFirst().path("principal").asString(""))
          .isEqualTo("ann");
    }
  }

  @Test
  void without_tokens_it_is_local_and_never_what_the_body_says() throws Exception {
    try (var secretLeaks = new SecretLeaks();
        var testServer = TestServer.configured(folder, "agents: [{id: agent-code, tools: []}]\n")) {
      var testUser = new TestUser(testServer, secretLeaks);
      testUser.post("/api/contexts", Json.object().put("contextId", "c"));
      var body = Json.object().put("content", "say hello").put("principal", "root");
      var refused = testUser.post("/api/contexts/c/messages", body).statusCode();
      var c = testUser.say("c", "say hello");
      testUser.await(c, "task-complete");

      assertThat(refused).isIn(202, 400);
      assertThat(events(testServer, "c", "message").getFirst().path("principal").asString(""))
          .isEqualTo("local");
    }
  }

  @Test
  void what_is_left_of_a_deleted_context_says_who_deleted_it() throws Exception {
    try (var secretLeaks = new SecretLeaks();
        var testServer = TestServer.configured(folder, YAML)) {
      var ann = new TestUser(testServer, secretLeaks, ANN);
      var c = ann.say("c", "say hello");
      ann.await(c, "task-complete");

      send(testServer, "DELETE", "/api/contexts/c", "");

      assertThat(ann.get("/api/contexts/c").statusCode()).isEqualTo(410);
    }
    var log = "jdbc:sqlite:" + folder.resolve("data").resolve("log.db");
    try (var connection = DriverManager.getConnection(log);
        var statement = connection.createStatement();
        var rows =
            statement.executeQuery(
                "SELECT deleted_by, deleted_at FROM contexts WHERE id = 'c' AND deleted = 1")) {
      assertThat(rows.next()).isTrue();
      assertThat(rows.getString(1)).isEqualTo("ann");
      assertThat(rows.getLong(2)).isPositive();
    }
  }
}
