package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Agents called by A2A over HTTP+JSON, in both versions.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class A2aRestTest {

  private static final String BASE = "/a2a/helper";

  private TestServer testServer;

  @BeforeAll
  void open(@TempDir Path folder) {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML);
  }

  @AfterAll
  void close() {
    testServer.close();
  }

  private static JsonNode json(HttpResponse<String> reply) {
    return Json.mapper().readTree(reply.body());
  }

  private static String say(String id, String text) {
    return """
    {"message": {"messageId": "%s", "role": "ROLE_USER", "parts": [{"text": "%s"}]}}
    """
        .formatted(id, text);
  }

  private static String early(String id, String text) {
    return """
    {"request": {"messageId": "%s", "role": "ROLE_USER", "content": [{"text": "%s"}]}}
    """
        .formatted(id, text);
  }

  private static List<JsonNode> frames(HttpResponse<String> reply) {
    return reply
        .body()
        .lines()
        .filter(line -> line.startsWith("data: "))
        .map(line -> Json.mapper().readTree(line.substring(6)))
        .toList();
  }

  @Test
  void version_1_0_sends_gets_lists_and_cancels() {
    var sent =
        testServer.post(BASE + "/message:send", say("rest-1", "say hello"), "A2A-Version", "1.0");

    assertThat(sent.statusCode()).isEqualTo(200);
    assertThat(sent.headers().firstValue("Content-Type")).hasValue("application/a2a+json");
    var task = json(sent).path("task");
    assertThat(task.path("status").path("state").asString()).isEqualTo("TASK_STATE_COMPLETED");
    var path = BASE + "/tasks/" + task.path("id").asString();
    assertThat(json(testServer.get(path))).isEqualTo(task);
    assertThat(json(testServer.get(path + "?historyLength=0")).has("history")).isFalse();
    assertThat(json(testServer.get(path + "?historyLength=1")).path("history").size()).isEqualTo(1);
    assertThat(testServer.get(path + "?historyLength=-1").statusCode()).isEqualTo(400);
    var listed =
        json(testServer.get(BASE + "/tasks?contextId=" + task.path("contextId").asString()));
    assertThat(listed.path("totalSize").asInt()).isEqualTo(1);
    assertThat(listed.path("nextPageToken").asString("-")).isEmpty();
    assertThat(listed.path("tasks").get(0).has("artifacts")).isFalse();
    var refused = testServer.post(path + ":cancel", "");
    assertThat(refused.statusCode()).isEqualTo(400);
    var error = json(refused).path("error");
    assertThat(error.path("status").asString()).isEqualTo("FAILED_PRECONDITION");
    assertThat(error.path("details").get(0).path("reason").asString())
        .isEqualTo("TASK_NOT_CANCELABLE");
    assertThat(json(testServer.get(BASE + "/tasks/none")).path("error").path("code").asInt())
        .isEqualTo(404);
  }

  @Test
  void version_1_0_streams_without_an_envelope() {
    var streamed = testServer.post(BASE + "/message:stream", say("rest-2", "count to 3"));

    assertThat(streamed.headers().firstValue("Content-Type").orElseThrow())
        .startsWith("text/event-stream");
    var frames = frames(streamed);
    assertThat(frames.getFirst().has("task")).isTrue();
    assertThat(frames.getLast().path("statusUpdate").path("status").path("state").asString())
        .isEqualTo("TASK_STATE_COMPLETED");
    var path = BASE + "/tasks/" + frames.getFirst().path("task").path("id").asString();
    assertThat(testServer.get(path + ":subscribe").statusCode()).isEqualTo(400);
    assertThat(testServer.post(path + ":subscribe", "").statusCode()).isEqualTo(400);
    assertThat(testServer.post(path + ":frobnicate", "").statusCode()).isEqualTo(404);
  }

  @Test
  void tenants_do_not_see_each_others_tasks() {
    var task =
        json(testServer.post(BASE + "/acme/message:send", say("rest-3", "say tenant")))
            .path("task");
    var id = task.path("id").asString();

    assertThat(task.path("metadata").path("tenant").asString()).isEqualTo("acme");
    assertThat(testServer.get(BASE + "/acme/tasks/" + id).statusCode()).isEqualTo(200);
    assertThat(testServer.get(BASE + "/zeus/tasks/" + id).statusCode()).isEqualTo(404);
    assertThat(testServer.get(BASE + "/tasks/" + id).statusCode()).isEqualTo(200);
    assertThat(json(testServer.get(BASE + "/acme/tasks")).path("totalSize").asInt()).isEqualTo(1);
    assertThat(json(testServer.get(BASE + "/zeus/tasks")).path("totalSize").asInt()).isZero();
  }

  @Test
  void a_tenant_with_a_long_name_sees_its_tasks() {
    var tenant = BASE + "/" + "acme".repeat(100);
    testServer.post(tenant + "/message:send", say("rest-long", "say tenant"));

    assertThat(json(testServer.get(tenant + "/tasks")).path("totalSize").asInt()).isEqualTo(1);
  }

  @Test
  void tenants_cannot_speak_in_each_others_contexts_nor_rewind_them() {
    var first = said("rest-t1", "say ours", "");
    var task = json(testServer.post(BASE + "/acme/message:send", first)).path("task");
    var id = task.path("id").asString();

    var spoken = testServer.post(BASE + "/zeus/message:send", said("rest-t2", "say theirs", ""));
    var rewound = testServer.post(BASE + "/zeus/message:send", said("rest-t3", "say theirs", id));

    for (var refused : List.of(spoken, rewound)) {
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(400);
      assertThat(refused.body()).contains("message.contextId: no such context: tenants-own");
    }
    assertThat(json(testServer.get(BASE + "/acme/tasks/" + id))).isEqualTo(task);
    var mine = testServer.post(BASE + "/acme/message:send", said("rest-t4", "say more", id));
    assertThat(mine.statusCode()).as(mine.body()).isEqualTo(200);
    assertThat(testServer.get(BASE + "/acme/tasks/" + id).statusCode()).isEqualTo(404);
  }

  private static String said(String id, String text, String rewindBefore) {
    var json = (ObjectNode) Json.mapper().readTree(say(id, text));
    var message = ((ObjectNode) json.path("message")).put("contextId", "tenants-own");
    if (!rewindBefore.isEmpty()) {
      message.putObject("metadata").put("kagent_rewind_before_invocation_id", rewindBefore);
    }
    return json.toString();
  }

  @Test
  void version_0_3_has_its_own_paths_and_form() {
    var sent = testServer.post(BASE + "/v1/message:send", early("rest-4", "say early"));

    assertThat(sent.statusCode()).isEqualTo(201);
    var task = json(sent).path("task");
    assertThat(task.path("status").path("state").asString()).isEqualTo("TASK_STATE_COMPLETED");
    assertThat(task.path("history").get(0).path("content").get(0).path("text").asString())
        .isEqualTo("say early");
    var path = BASE + "/v1/tasks/" + task.path("id").asString();
    assertThat(json(testServer.get(path))).isEqualTo(task);
    assertThat(frames(testServer.get(path + ":subscribe"))).hasSize(1);
    var missing = testServer.get(BASE + "/v1/tasks/none");
    assertThat(missing.statusCode()).isEqualTo(404);
    assertThat(json(missing).path("code").asInt()).isEqualTo(-32001);
    var frames =
        frames(testServer.post(BASE + "/v1/message:stream", early("rest-5", "count to 2")));
    assertThat(frames.getFirst().has("task")).isTrue();
    assertThat(frames.getLast().path("statusUpdate").path("final").asBoolean()).isTrue();
  }

  @Test
  void a_path_is_that_of_one_version() {
    assertThat(
            testServer
                .post(BASE + "/message:send", say("rest-6", "say x"), "A2A-Version", "0.3")
                .statusCode())
        .isEqualTo(400);
    var refused =
        testServer.post(BASE + "/message:send", say("rest-7", "say x"), "A2A-Version", "99.0");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("VERSION_NOT_SUPPORTED");
  }

  @Test
  void what_is_not_json_is_refused_in_both_versions() {
    for (var path : List.of(BASE + "/message:send", BASE + "/v1/message:send", BASE)) {
      for (var body : List.of("{", "[]", "\"x\"", "{}", "{\"message\":[]}", "null")) {
        var reply = testServer.post(path, body);
        assertThat(reply.statusCode()).as(path + " " + body).isIn(200, 400);
        assertThat(reply.body()).contains("\"message\"").contains("\"code\"");
      }
    }
    var plain =
        testServer.send(
            testServer
                .request(BASE + "/message:send", "Content-Type", "text/plain")
                .POST(java.net.http.HttpRequest.BodyPublishers.ofString(say("rest-8", "say x"))));
    assertThat(plain.statusCode()).isEqualTo(400);
    assertThat(plain.body()).contains("CONTENT_TYPE_NOT_SUPPORTED");
  }

  @Test
  void one_switch_gives_the_codes_of_1_0_0(@TempDir Path folder) {
    var yaml = A2aJsonRpcTest.YAML + "a2a: {version: 1.0.0}\n";
    try (var first = TestServer.durable(folder, TestServer.Wish.USUAL, yaml)) {
      var sent = first.post(BASE + "/message:send", say("m", "say hello"));
      assertThat(sent.headers().firstValue("Content-Type")).hasValue("application/json");
      var id = json(sent).path("task").path("id").asString();
      var refused = first.post(BASE + "/tasks/" + id + ":cancel", "");
      assertThat(refused.statusCode()).isEqualTo(409);
      var plain =
          first.send(
              first
                  .request(BASE + "/message:send", "Content-Type", "text/plain")
                  .POST(java.net.http.HttpRequest.BodyPublishers.ofString("{}")));
      assertThat(plain.statusCode()).isEqualTo(415);
    }
  }

  /// What SDKs of 0.3 send: ProtoJSON, in whose queries and bodies names may be in either case.
  @Test
  void version_0_3_takes_both_forms_of_names_and_the_whole_request_for_a_webhook() {
    var sent = json(testServer.post(BASE + "/v1/message:send", early("rest-9", "say names")));
    var id = sent.path("task").path("id").asString();
    var path = BASE + "/v1/tasks/" + id;
    for (var name : List.of("historyLength", "history_length")) {
      assertThat(json(testServer.get(path + "?" + name + "=1")).path("history"))
          .as(name)
          .hasSize(1);
      assertThat(json(testServer.get(path + "?" + name + "=0")).has("history")).as(name).isFalse();
      assertThat(testServer.get(path + "?" + name + "=-1").statusCode()).as(name).isEqualTo(400);
      assertThat(testServer.get(path + "?" + name + "=x").statusCode()).as(name).isEqualTo(400);
    }
    var context = sent.path("task").path("contextId").asString();
    var list = BASE + "/v1/tasks?context_id=" + context + "&page_size=1&include_artifacts=true";
    assertThat(json(testServer.get(list)).path("tasks")).hasSize(1);
    assertThat(json(testServer.get(list)).path("tasks").get(0).path("artifacts")).isNotEmpty();
    assertThat(testServer.get(BASE + "/v1/tasks?page_size=0").statusCode()).isEqualTo(400);

    var url = "https://example.org/hook";
    var push = path + "/pushNotificationConfigs";
    var bodies =
        List.of(
            "{'parent':'tasks/%s','configId':'whole','config':{'name':'tasks/%s/pushNotificationConfigs/whole','pushNotificationConfig':{'url':'%s','token':'t'}}}",
            "{'parent':'tasks/%s','config_id':'whole-snake','config':{'name':'tasks/%s/pushNotificationConfigs/whole-snake','push_notification_config':{'id':'whole-snake','url':'%s'}}}",
            "{'name':'tasks/%s/pushNotificationConfigs/named','taskId':'%s','pushNotificationConfig':{'url':'%s'}}");
    for (var body : bodies) {
      var kept = testServer.post(push, body.replace('\'', '"').formatted(id, id, url));
      assertThat(kept.statusCode()).as(kept.body()).isEqualTo(201);
      assertThat(json(kept).path("pushNotificationConfig").path("url").asString()).isEqualTo(url);
    }
    for (var config : List.of("whole", "whole-snake", "named")) {
      assertThat(json(testServer.get(push + "/" + config)).path("name").asString())
          .isEqualTo("tasks/" + id + "/pushNotificationConfigs/" + config);
    }
  }

  @Test
  void other_words_under_a_used_message_id_are_409_CORE_2() {
    for (var version : List.of("", "/v1")) {
      var path = BASE + version + "/message:send";
      var id = "rest-reuse" + version.replace('/', '-');
      BiFunction<String, String, String> form =
          version.isEmpty() ? A2aRestTest::say : A2aRestTest::early;
      assertThat(testServer.post(path, form.apply(id, "say one")).statusCode()).isBetween(200, 201);
      var other = testServer.post(path, form.apply(id, "say two"));
      assertThat(other.statusCode()).isEqualTo(409);
      assertThat(other.body()).contains("a different message");
      if (version.isEmpty()) {
        var error = json(other).path("error");
        assertThat(error.path("status").asString()).isEqualTo("ABORTED");
        assertThat(error.at("/details/0/reason").asString()).isEqualTo("MESSAGE_ID_REUSED");
      }
      assertThat(testServer.post(path, form.apply(id, "say one")).statusCode()).isBetween(200, 201);
    }
  }

  @Test
  void pushes_are_for_tasks_that_there_are() {
    var push = BASE + "/tasks/none/pushNotificationConfigs";
    assertThat(testServer.get(push).body()).contains("TASK_NOT_FOUND");
    assertThat(testServer.post(push, "{\"url\":\"https://example.org\"}").statusCode())
        .isEqualTo(404);
    assertThat(
            new A2aTestClient(testServer, "helper", "0.3")
                .error("tasks/pushNotificationConfig/list", A2aTestClient.id("none")))
        .isEqualTo(-32001);
  }
}
