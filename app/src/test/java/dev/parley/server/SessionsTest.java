package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Sessions in the words of kagent: SESSION-H.
@Timeout(120)
class SessionsTest extends KagentFixture {

  private static ObjectNode named(String id, String name) {
    return Json.object().put("id", id).put("name", name);
  }

  private static List<String> ids(JsonNode sessions) {
    return sessions.valueStream().map(one -> one.path("id").asString()).toList();
  }

  /// The events of a session, as the JSON that each holds as text.
  private static List<JsonNode> events(JsonNode shown) {
    return StreamSupport.stream(shown.path("events").spliterator(), false)
        .map(event -> Json.mapper().readTree(event.path("data").asString()))
        .toList();
  }

  @Test
  void a_session_is_made_listed_changed_and_deleted_SESSION_59() {
    var kagentTestClient = open();

    var made =
        KagentTestClient.data(
            201,
            kagentTestClient.post(
                "/api/sessions",
                named("s1", "First").put("agent_ref", "kagent/agent-code").put("user_id", "ann")));

    assertThat(made.path("id").asString()).isEqualTo("s1");
    assertThat(made.path("name").asString()).isEqualTo("First");
    assertThat(made.path("agent_id").asString()).isEqualTo("agent-code");
    assertThat(made.path("user_id").asString()).isEqualTo("ann");
    assertThat(made.path("created_at").asString()).isNotBlank();
    KagentTestClient.error(409, kagentTestClient.post("/api/sessions", named("s1", "Again")));
    for (var method : List.of("PUT", "PATCH")) {
      var change = Json.object().put("name", method);
      assertThat(
              KagentTestClient.data(200, kagentTestClient.send(method, "/api/sessions/s1", change))
                  .path("name")
                  .asString())
          .isEqualTo(method);
    }
    assertThat(ids(KagentTestClient.data(200, kagentTestClient.get("/api/sessions"))))
        .containsExactly("s1");
    assertThat(testServer.get("/api/contexts/s1").body()).contains("PATCH");
    KagentTestClient.data(200, kagentTestClient.delete("/api/sessions/s1"));
    assertThat(ids(KagentTestClient.data(200, kagentTestClient.get("/api/sessions")))).isEmpty();
    KagentTestClient.error(410, kagentTestClient.get("/api/sessions/s1"));
  }

  @Test
  void what_makes_no_sense_is_refused_in_kagents_form() {
    var kagentTestClient = open();
    kagentTestClient.post("/api/sessions", named("s1", "First"));

    assertThat(KagentTestClient.error(404, kagentTestClient.get("/api/sessions/none")))
        .contains("none");
    KagentTestClient.error(404, kagentTestClient.get("/api/sessions/" + "x".repeat(200)));
    KagentTestClient.error(404, kagentTestClient.get("/api/sessions/none/tasks"));
    KagentTestClient.error(400, kagentTestClient.send("PATCH", "/api/sessions/s1", Json.object()));
    KagentTestClient.error(
        400, kagentTestClient.post("/api/sessions", Json.object().put("name", " ")));
    KagentTestClient.error(
        400, kagentTestClient.post("/api/sessions", Json.object().put("id", "no spaces")));
    KagentTestClient.error(400, kagentTestClient.get("/api/sessions/s1?order=up"));
    KagentTestClient.error(400, kagentTestClient.get("/api/sessions/s1?after=yesterday"));
    KagentTestClient.error(400, kagentTestClient.get("/api/sessions?unknown=1"));
    assertThat(
            KagentTestClient.error(
                404,
                kagentTestClient.post("/api/sessions", Json.object().put("agent_ref", "x/nobody"))))
        .contains("/api/agent-types");
    KagentTestClient.error(404, kagentTestClient.get("/api/sessions/agent/x/nobody"));
  }

  @Test
  void sessions_are_listed_by_agent_whoever_began_them_SESSION_59_SESSION_60() {
    var kagentTestClient = open();
    kagentTestClient.post("/api/sessions", named("s1", "One").put("agent_ref", "ns/agent-code"));
    kagentTestClient.post(
        "/api/sessions", named("s2", "Two").put("agent_ref", "ns__NS__agent_research"));
    kagentTestClient.post(
        "/api/sessions",
        named("hidden", "Child").put("agent_ref", "ns/agent-code").put("source", "agent"));
    testServer.post("/api/contexts", "{\"contextId\":\"s3\"}");
    kagentTestClient.ended(
        "s3",
        Json.mapper()
            .readTree(
                testServer
                    .post(
                        "/api/contexts/s3/messages",
                        "{\"content\":\"say hi\",\"agentId\":\"agent-code\"}")
                    .body())
            .path("taskId")
            .asString());

    assertThat(
            ids(
                KagentTestClient.data(
                    200, kagentTestClient.get("/api/sessions/agent/ns/agent-code"))))
        .containsExactlyInAnyOrder("s1", "s3");
    assertThat(ids(KagentTestClient.data(200, kagentTestClient.get("/api/sessions"))))
        .containsExactlyInAnyOrder("s1", "s2", "s3");
    assertThat(kagentTestClient.session("hidden").path("session").path("source").asString())
        .isEqualTo("agent");
    assertThat(
            ids(KagentTestClient.data(200, kagentTestClient.get("/api/sessions?limit=1&offset=1"))))
        .hasSize(1);
  }

  @Test
  void where_there_are_no_tokens_callers_say_who_they_are_SESSION_7() {
    var kagentTestClient = open();
    var ann = new KagentTestClient(testServer, "X-User-ID", "ann");
    KagentTestClient.data(201, ann.post("/api/sessions", named("a", "Ann's")));
    KagentTestClient.data(
        201, kagentTestClient.post("/api/sessions?user_id=bob", named("b", "Bob's")));

    assertThat(ids(KagentTestClient.data(200, ann.get("/api/sessions")))).containsExactly("a");
    assertThat(ids(KagentTestClient.data(200, kagentTestClient.get("/api/sessions?user_id=bob"))))
        .containsExactly("b");
    assertThat(ids(KagentTestClient.data(200, kagentTestClient.get("/api/sessions"))))
        .containsExactlyInAnyOrder("a", "b");
    assertThat(KagentTestClient.error(404, ann.get("/api/sessions/b")))
        .isEqualTo(KagentTestClient.error(404, ann.get("/api/sessions/none")).replace("none", "b"));
    KagentTestClient.error(404, ann.delete("/api/sessions/b"));
  }

  @Test
  void with_tokens_the_token_says_who_is_calling_SESSION_7_SESSION_37() throws Exception {
    open(TestServer.Wish.USUAL.tokens(token("ann"), token("bob")));
    var ann = new KagentTestClient(testServer, "Authorization", "Bearer ann", "X-User-ID", "bob");
    var bob = new KagentTestClient(testServer, "Authorization", "Bearer bob");
    KagentTestClient.data(
        201, ann.post("/api/sessions", named("a", "Ann's").put("user_id", "bob")));

    assertThat(ann.session("a").path("session").path("user_id").asString()).isEqualTo("ann");
    KagentTestClient.error(404, bob.get("/api/sessions/a"));
    assertThat(ids(KagentTestClient.data(200, bob.get("/api/sessions")))).isEmpty();
    KagentTestClient.error(409, bob.post("/api/sessions", named("a", "Mine")));
    KagentTestClient.error(401, new KagentTestClient(testServer).get("/api/sessions"));
  }

  @Test
  void a_session_can_be_shown_to_others_who_can_only_read_it_SESSION_65() throws Exception {
    open(TestServer.Wish.USUAL.tokens(token("ann"), token("bob")));
    var ann = new KagentTestClient(testServer, "Authorization", "Bearer ann");
    KagentTestClient.data(201, ann.post("/api/sessions", named("a", "Ann's")));
    var task = ann.say("a", "say hi");
    var share = KagentTestClient.data(201, ann.post("/api/sessions/a/shares", Json.object()));
    KagentTestClient.data(201, ann.post("/api/sessions/a/fork", Json.object().put("id", "fork")));
    var token = share.path("token").asString();
    var bob =
        new KagentTestClient(testServer, "Authorization", "Bearer bob", "X-Share-Token", token);

    assertThat(bob.session("a").path("read_only").asBoolean()).isTrue();
    assertThat(bob.conversation("a")).containsExactly("say hi", "hi");
    KagentTestClient.data(200, bob.get("/api/tasks/" + task));
    KagentTestClient.error(
        404, bob.send("PATCH", "/api/sessions/a", Json.object().put("name", "x")));
    KagentTestClient.error(404, bob.delete("/api/sessions/a"));
    KagentTestClient.error(404, bob.delete("/api/tasks/" + task));
    KagentTestClient.error(404, bob.get("/api/sessions/a/shares"));
    KagentTestClient.error(
        404,
        bob.post("/api/sessions/a/rewind", Json.object().put("rewind_before_invocation_id", task)));
    KagentTestClient.error(404, bob.get("/api/sessions/fork"));
    assertThat(ann.session("a").has("read_only")).isFalse();
    assertThat(testServer.get("/api/contexts/a", "Authorization", "Bearer ann").body())
        .doesNotContain(token);

    var id = share.path("id").asString();
    assertThat(
            KagentTestClient.data(200, ann.get("/api/sessions/a/shares"))
                .path(0)
                .path("id")
                .asString())
        .isEqualTo(id);
    KagentTestClient.data(200, ann.delete("/api/sessions/a/shares/" + id));
    KagentTestClient.error(404, ann.delete("/api/sessions/a/shares/" + id));
    KagentTestClient.error(404, bob.get("/api/sessions/a"));
  }

  @Test
  void a_share_that_was_revoked_does_not_come_back_SESSION_65() throws Exception {
    var kagentTestClient = open();
    KagentTestClient.data(
        201,
        kagentTestClient.post("/api/sessions", named("a", "A").put("agent_ref", "agent-code")));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var changing =
          threads.submit(
              () -> {
                for (var i = 0; i < 60; i++) {
                  var change = Json.object().put("source", "source" + i);
                  KagentTestClient.data(
                      200, kagentTestClient.send("PATCH", "/api/sessions/a", change));
                }
                return true;
              });
      for (var i = 0; i < 30; i++) {
        var share =
            KagentTestClient.data(
                201, kagentTestClient.post("/api/sessions/a/shares", Json.object()));
        var one = "/api/sessions/a/shares/" + share.path("id").asString();
        KagentTestClient.data(200, kagentTestClient.delete(one));
      }
      assertThat(changing.get()).isTrue();
    }
    assertThat(KagentTestClient.data(200, kagentTestClient.get("/api/sessions/a/shares")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/chat/conversations/a", "/api/contexts/a"})
  void other_metadata_are_replaced_without_what_sessions_keep_there_SESSION_65(String path) {
    var kagentTestClient = open();
    KagentTestClient.data(
        201,
        kagentTestClient.post("/api/sessions", named("a", "A").put("agent_ref", "agent-code")));
    var share =
        KagentTestClient.data(201, kagentTestClient.post("/api/sessions/a/shares", Json.object()));
    var shown = Json.mapper().readTree(testServer.get(path).body()).findValue("metadata");
    var change = Json.object();
    change.putObject("metadata").put("color", "red");

    assertThat(kagentTestClient.send("PATCH", path, change).statusCode()).isEqualTo(200);

    assertThat(KagentTestClient.data(200, kagentTestClient.get("/api/sessions/a/shares")))
        .hasSize(1);
    assertThat(kagentTestClient.session("a").path("session").path("agent_id").asString())
        .isEqualTo("agent-code");
    var id = share.path("id").asString();
    KagentTestClient.data(200, kagentTestClient.delete("/api/sessions/a/shares/" + id));
    assertThat(shown.toString()).contains(id);
    change.set("metadata", shown);
    assertThat(kagentTestClient.send("PATCH", path, change).statusCode()).isEqualTo(200);
    assertThat(KagentTestClient.data(200, kagentTestClient.get("/api/sessions/a/shares")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/chat/conversations/a", "/api/contexts/a", "/api/sessions/a"})
  void what_a_session_says_of_itself_can_be_changed_while_it_is_written_to(String path)
      throws Exception {
    var kagentTestClient = open();
    KagentTestClient.data(201, kagentTestClient.post("/api/sessions", named("a", "A")));
    var done = new AtomicBoolean();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var i = 0; i < 4; i++) {
        threads.execute(
            () -> {
              var state = new StateUpdated(Json.object().put("n", 1));
              while (!done.get()) {
                testServer.append(new ContextId("a"), state);
              }
            });
      }
      try {
        for (var i = 0; i < 20; i++) {
          var change = Json.object().put("source", "source" + i);
          change.putObject("metadata").put("n", i);
          assertThat(kagentTestClient.send("PATCH", path, change).statusCode()).isEqualTo(200);
        }
      } finally {
        done.set(true);
      }
    }
  }

  private static ApiToken token(String name) throws Exception {
    var hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
    return new ApiToken(name, HexFormat.of().formatHex(hash));
  }

  @Test
  void the_oldest_events_come_whether_or_not_something_was_rewound_SESSION_59() {
    var kagentTestClient = open();
    kagentTestClient.post("/api/sessions", named("a", "A"));
    kagentTestClient.say("a", "say one");
    kagentTestClient.say("a", "say two");
    var third = kagentTestClient.say("a", "say three");
    var oldest = "/api/sessions/a?order=asc&limit=3";
    var before = KagentTestClient.data(200, kagentTestClient.get(oldest)).path("events");

    var back = Json.object().put("rewind_before_invocation_id", third);
    KagentTestClient.data(200, kagentTestClient.post("/api/sessions/a/rewind", back));

    assertThat(before).hasSize(3);
    assertThat(before.toString()).contains("say one", "say two").doesNotContain("say three");
    assertThat(KagentTestClient.data(200, kagentTestClient.get(oldest)).path("events"))
        .isEqualTo(before);
  }

  @Test
  void a_session_shows_its_events_newest_first_or_oldest_first_SESSION_59() {
    var kagentTestClient = open();
    kagentTestClient.post("/api/sessions", named("s1", "Talk"));
    var task = kagentTestClient.say("s1", "say hello");

    var newest = events(kagentTestClient.session("s1"));
    var oldest = KagentTestClient.data(200, kagentTestClient.get("/api/sessions/s1?order=asc"));

    assertThat(events(oldest).reversed()).isEqualTo(newest);
    assertThat(newest)
        .extracting(e -> e.path("content").path("role").asString())
        .containsExactly("model", "user");
    assertThat(newest)
        .extracting(e -> e.path("content").path("parts").path(0).path("text").asString())
        .containsExactly("hello", "say hello");
    assertThat(newest).extracting(e -> e.path("invocation_id").asString()).containsOnly(task);
    assertThat(
            events(
                KagentTestClient.data(
                    200, kagentTestClient.get("/api/sessions/s1?order=asc&limit=1"))))
        .isEqualTo(events(oldest).subList(0, 1));
    // kagent's agents send -1 or 0 for all events.
    for (var all : List.of("-1", "0")) {
      assertThat(
              events(
                  KagentTestClient.data(
                      200, kagentTestClient.get("/api/sessions/s1?order=asc&limit=" + all))))
          .isEqualTo(events(oldest));
    }
    for (var wrong : List.of("-2", "x", "1.5", "99999999999999999999")) {
      assertThat(
              KagentTestClient.error(400, kagentTestClient.get("/api/sessions/s1?limit=" + wrong)))
          .contains("limit must be a whole number of at least -1");
    }
    for (var wrong : List.of("limit=-1", "limit=0", "limit=x", "offset=-1", "offset=x")) {
      assertThat(KagentTestClient.error(400, kagentTestClient.get("/api/sessions?" + wrong)))
          .contains("must be a whole number of at least");
    }
    var last = kagentTestClient.session("s1").path("events").get(0).path("created_at").asString();
    assertThat(
            events(
                KagentTestClient.data(200, kagentTestClient.get("/api/sessions/s1?after=" + last))))
        .isEmpty();
  }

  @Test
  void an_event_that_is_posted_is_kept_once_and_sets_state_SESSION_51_SESSION_52_SESSION_59() {
    var kagentTestClient = open();
    var begun = named("s1", "Talk");
    begun.putObject("state").put("born", 1).put("user:name", "ann");
    KagentTestClient.data(201, kagentTestClient.post("/api/sessions", begun));
    var data = Json.object().put("author", "tester").put("invocation_id", "i1");
    data.putObject("actions").putObject("state_delta").put("mood", "good").put("temp:x", 1);
    var event = Json.object().put("id", "e1").put("data", data.toString());

    KagentTestClient.data(201, kagentTestClient.post("/api/sessions/s1/events", event));
    KagentTestClient.data(201, kagentTestClient.post("/api/sessions/s1/events", event));

    var shown = kagentTestClient.session("s1");
    assertThat(shown.path("state").toString())
        .isEqualTo("{\"born\":1,\"mood\":\"good\",\"user:name\":\"ann\"}");
    assertThat(shown.path("events").valueStream().filter(e -> e.path("id").asString().equals("e1")))
        .singleElement()
        .extracting(e -> e.path("data").asString())
        .isEqualTo(data.toString());
    KagentTestClient.error(
        409,
        kagentTestClient.post("/api/sessions/s1/events", event.deepCopy().put("data", "other")));
    KagentTestClient.error(
        400, kagentTestClient.post("/api/sessions/s1/events", Json.object().put("id", "e 2")));
    KagentTestClient.error(404, kagentTestClient.post("/api/sessions/none/events", event));
    assertThat(kagentTestClient.say("s1", "say x")).isNotEmpty();
  }
}
