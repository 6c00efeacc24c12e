package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// What the specification says that agents MUST do, one by one, as the public conformance kits ask for it.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class A2aConformanceTest {

  private static final Pattern SNAKE = Pattern.compile("[a-z0-9]+(?:_[a-z0-9]+)+");
  private static final String BASE = "/a2a/helper";
  private static final String ZULU = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";

  private TestServer testServer;

  @BeforeAll
  void open(@TempDir Path folder) {
    var kit = "a2a: {version: 1.0.0, card: pure, idempotent: false, kagentMetadata: false}\n";
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML + kit);
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private A2aTestClient peer(String version) {
    return new A2aTestClient(testServer, "helper", version);
  }

  private static String body(String template) {
    return template.replace('\'', '"');
  }

  static Stream<Arguments> brokenRequests() {
    var now = "'message':{'messageId':'b','role':'ROLE_USER','parts':[{'text':'say x'}]}";
    return Stream.of(
        Arguments.of("0.3", "{'jsonrpc':'2.0','method':'message/send','params':{", -32700),
        Arguments.of("0.3", "{'jsonrpc':'aaa','method':'message/send','params':{}}", -32600),
        Arguments.of("0.3", "{'jsonrpc':'2.0','params':{}}", -32600),
        Arguments.of("0.3", "{'jsonrpc':'2.0','method':'message/ssend','params':{}}", -32601),
        Arguments.of(
            "0.3", "{'jsonrpc':'2.0','method':'message/send','params':{},'id':{'a':1}}", -32600),
        Arguments.of("0.3", "{'jsonrpc':'2.0','method':'message/send','params':{'':'x'}}", -32602),
        Arguments.of("0.3", "{'jsonrpc':'2.0','method':'message/send','params':[]}", -32602),
        Arguments.of(
            "0.3",
            "{'jsonrpc':'2.0','method':'message/send','params':{'message':{'parts':'invalid'}}}",
            -32602),
        Arguments.of("0.3", "[]", -32600),
        Arguments.of("0.3", "7", -32600),
        Arguments.of("1.0", "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':{}}", -32602),
        Arguments.of(
            "1.0", "{'jsonrpc':'2.0','id':1,'method':'NonExistentMethod','params':{}}", -32601),
        Arguments.of("1.0", "{'jsonrpc':'2.0','id':1,'method':'GetTask','params':{}}", -32602),
        Arguments.of(
            "1.0",
            "{'jsonrpc':'2.0','id':1,'method':'message/send','params':{" + now + "}}",
            -32601),
        Arguments.of(
            "99.0",
            "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':{" + now + "}}",
            -32009),
        Arguments.of(
            "1.0.1",
            "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':{" + now + "}}",
            -32009));
  }

  @ParameterizedTest
  @MethodSource("brokenRequests")
  void what_is_wrong_with_a_request_has_its_number(String version, String request, int code) {
    var reply = testServer.post(BASE + "/", body(request), "A2A-Version", version);

    assertThat(reply.statusCode()).isEqualTo(200);
    var json = Json.mapper().readTree(reply.body());
    assertThat(json.path("jsonrpc").asString()).isEqualTo("2.0");
    assertThat(json.has("id")).isTrue();
    assertThat(json.path("error").path("code").asInt()).isEqualTo(code);
    assertThat(json.path("error").path("message").asString()).isNotBlank();
  }

  @Test
  void errors_of_a2a_have_their_info_in_1_0_and_none_in_0_3() {
    var now = peer("1.0").call("GetTask", A2aTestClient.id("none")).path("error");
    assertThat(now.path("data").get(0).path("@type").asString())
        .isEqualTo("type.googleapis.com/google.rpc.ErrorInfo");
    assertThat(now.path("data").get(0).path("reason").asString()).isEqualTo("TASK_NOT_FOUND");
    assertThat(now.path("data").get(0).path("domain").asString()).isEqualTo("a2a-protocol.org");
    assertThat(peer("0.3").call("tasks/get", A2aTestClient.id("none")).path("error").has("data"))
        .isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void tasks_have_ids_of_the_servers_own_and_contexts_are_kept(String version) {
    var peer = peer(version);
    var one = peer.send(peer.say("same", "say one"));
    var two = peer.send(peer.say("same", "say one"));
    assertThat(two.path("id")).isNotEqualTo(one.path("id"));
    assertThat(one.path("contextId").asString()).isNotEmpty();
    var kept =
        peer.send(A2aTestClient.in(peer.say("same", "say x"), "contextId", "ctx-" + version));
    assertThat(kept.path("contextId").asString()).isEqualTo("ctx-" + version);

    var unknown = A2aTestClient.in(peer.say("m", "say x"), "taskId", "nonexistent");
    assertThat(peer.error(peer.sending(), unknown)).isEqualTo(-32001);
    var id = one.path("id").asString();
    var mismatch =
        A2aTestClient.in(
            A2aTestClient.in(peer.say("m", "say x"), "taskId", id), "contextId", "wrong");
    assertThat(peer.error(peer.sending(), mismatch)).isEqualTo(-32602);
    var ended = A2aTestClient.in(peer.say("m", "say x"), "taskId", id);
    assertThat(peer.error(peer.sending(), ended)).isEqualTo(peer.modern() ? -32004 : -32602);
    var refused = A2aTestClient.in(peer.say("m", "say x"), "contextId", "not allowed");
    assertThat(peer.error(peer.sending(), refused)).isEqualTo(-32602);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_task_can_be_continued_with_reused_message_ids_and_keeps_the_order(String version) {
    var peer = peer(version);
    var asks = peer.send(peer.say("input", "ask me which colour"));
    var id = asks.path("id").asString();
    var done = peer.send(A2aTestClient.in(peer.say("input", "history message 1"), "taskId", id));

    assertThat(done.path("contextId")).isEqualTo(asks.path("contextId"));
    var whole = peer.result(peer.getting(), A2aTestClient.id(id)).path("history").toString();
    assertThat(whole.indexOf("which colour")).isLessThan(whole.indexOf("history message 1"));
    assertThat(whole).contains("history message 1");
    for (var length : List.of(0, 1, 2, 999_999)) {
      var wanted =
          A2aTestClient.id(id).put(peer.modern() ? "history_length" : "historyLength", length);
      var history = peer.result(peer.getting(), wanted).path("history");
      assertThat(history.size()).isLessThanOrEqualTo(length);
    }
    var nothing = peer.say("none", "say x");
    nothing.putObject("configuration").put("historyLength", 0);
    assertThat(peer.send(nothing).has("history")).isFalse();
  }

  @Test
  void media_that_no_agent_reads_are_refused() {
    var now = peer("1.0").say("media", "");
    parts(now).addObject().put("raw", "dGNr").put("mediaType", "application/x-unsupported");
    assertThat(peer("1.0").error("SendMessage", now)).isEqualTo(-32005);
    var early = peer("0.3").say("media", "");
    var file = parts(early).addObject().put("kind", "file").putObject("file");
    file.put("bytes", "dGNr").put("mimeType", "application/x-unsupported").put("name", "a");
    assertThat(peer("0.3").error("message/send", early)).isEqualTo(-32005);
    var text = peer("1.0").say("media", "");
    parts(text).addObject().put("raw", "c2F5IGZpbGU=").put("mediaType", "text/plain");
    assertThat(peer("1.0").send(text).path("status").path("state").asString())
        .isEqualTo("TASK_STATE_COMPLETED");
  }

  private static tools.jackson.databind.node.ArrayNode parts(ObjectNode params) {
    return ((ObjectNode) params.path("message")).putArray("parts");
  }

  @Test
  void names_are_in_camel_case_states_are_words_and_times_are_utc() {
    var task = peer("1.0").send(peer("1.0").say("names", "run echo x"));

    var names = new LinkedHashSet<String>();
    collect(task, names);
    assertThat(names).noneMatch(name -> SNAKE.matcher(name).matches() && !name.contains("/"));
    assertThat(task.path("status").path("state").isString()).isTrue();
    assertThat(task.path("status").path("timestamp").asString()).matches(ZULU);
  }

  /// The names of all fields, but for what an extension has below its own name.
  private static void collect(JsonNode node, Set<String> names) {
    node.forEachEntry(
        (name, value) -> {
          names.add(name);
          if (!name.contains("://")) {
            collect(value, names);
          }
        });
    if (node.isArray()) {
      node.forEach(one -> collect(one, names));
    }
  }

  @Test
  void unknown_fields_are_ignored() {
    var say = peer("1.0").say("extra", "say x");
    ((ObjectNode) say.path("message")).put("unknownField", "x").putObject("another").put("a", 1);
    assertThat(peer("1.0").send(say.put("more", true)).path("id").asString()).isNotEmpty();
  }

  @Test
  void all_subscribers_get_the_same_in_the_same_order_and_closing_one_harms_none()
      throws Exception {
    var peer = peer("1.0");
    var say = peer.say("streams", "count slowly to 1000");
    say.putObject("configuration").put("returnImmediately", true);
    var id = A2aTestClient.id(peer.send(say).path("id").asString());
    try (var one = peer.open("SubscribeToTask", id, "Last-Event-ID", "0");
        var two = peer.open("SubscribeToTask", id, "Last-Event-ID", "0")) {
      try (var third = peer.open("SubscribeToTask", id)) {
        assertThat(A2aTestClient.frame(third.next()).result().has("task")).isTrue();
      }
      peer.result("CancelTask", id);
      for (var frame = one.next(); frame != null; frame = one.next()) {
        assertThat(two.next()).isEqualTo(frame);
      }
      assertThat(two.next()).isNull();
    }
  }

  @Test
  void a_subscription_to_a_task_that_asks_stays_open_until_it_has_ended() throws Exception {
    var peer = peer("1.0");
    var asks = peer.send(peer.say("sub", "ask me which colour"));
    var id = asks.path("id").asString();
    try (var reader = peer.open("SubscribeToTask", A2aTestClient.id(id))) {
      assertThat(A2aTestClient.frame(reader.next()).result().path("task")).isEqualTo(asks);
      peer.send(A2aTestClient.in(peer.say("done", "red"), "taskId", id));
      var last = "";
      for (var frame = reader.next(); frame != null; frame = reader.next()) {
        last = frame.data() == null ? last : frame.data();
      }
      assertThat(last).contains("TASK_STATE_COMPLETED");
    }
  }

  static Stream<Arguments> restErrors() {
    return Stream.of(
        Arguments.of("GET", "/tasks/none", "", 404, "TASK_NOT_FOUND"),
        Arguments.of("POST", "/tasks/none:cancel", "", 404, "TASK_NOT_FOUND"),
        Arguments.of("POST", "/tasks/none:subscribe", "", 404, "TASK_NOT_FOUND"),
        Arguments.of("GET", "/extendedAgentCard", "", 400, "UNSUPPORTED_OPERATION"),
        Arguments.of("POST", "/message:send", "{}", 400, "INVALID_PARAMS"),
        Arguments.of("POST", "/message:send", "{", 400, "PARSE"),
        Arguments.of("GET", "/tasks?pageSize=0", "", 400, "INVALID_PARAMS"),
        Arguments.of("GET", "/tasks?pageSize=x", "", 400, "INVALID_PARAMS"),
        Arguments.of(
            "POST",
            "/tasks/none/pushNotificationConfigs",
            "{'url':'https://example.org'}",
            404,
            "TASK_NOT_FOUND"));
  }

  @ParameterizedTest
  @MethodSource("restErrors")
  void http_json_has_a_status_and_a_reason_for_each_error(
      String method, String path, String body, int status, String reason) {
    var reply = send(method, path, body(body));

    assertThat(reply.statusCode()).isEqualTo(status);
    assertThat(reply.headers().firstValue("Content-Type")).hasValue("application/json");
    var error = Json.mapper().readTree(reply.body()).path("error");
    assertThat(error.path("code").asInt()).isEqualTo(status);
    assertThat(error.path("message").asString()).isNotBlank();
    assertThat(error.path("details").get(0).path("reason").asString()).isEqualTo(reason);
    assertThat(error.path("details").get(0).path("domain").asString())
        .isEqualTo("a2a-protocol.org");
  }

  private HttpResponse<String> send(String method, String path, String body) {
    return testServer.send(
        testServer
            .request(BASE + path, "A2A-Version", "1.0", "Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body)));
  }

  @Test
  void an_unknown_agent_is_said_to_be_unknown() {
    var reply = testServer.post("/a2a/nobody", "{}");
    assertThat(reply.statusCode()).isEqualTo(404);
    assertThat(reply.body()).contains("helper");
  }

  @Test
  void a_task_that_fails_says_why() {
    var failed = peer("1.0").send(peer("1.0").say("fails", "fail"));
    assertThat(failed.path("status").path("state").asString()).isEqualTo("TASK_STATE_FAILED");
    assertThat(failed.path("status").path("message").path("parts").get(0).path("text").asString())
        .isNotBlank();
  }

  @Test
  void what_a_task_makes_is_an_artifact() {
    var made = peer("1.0").send(peer("1.0").say("makes", "write a report on apples"));
    var file =
        made.path("artifacts")
            .valueStream()
            .filter(one -> one.path("metadata").path("type").asString("").equals("file"))
            .findFirst()
            .orElseThrow();
    assertThat(file.toString()).contains("\"raw\":");
    assertThat(file.path("parts").get(0).path("filename").asString()).isNotBlank();
  }
}
