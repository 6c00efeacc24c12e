package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.audit.AuditRecord.ChainPoint;
import dev.parley.audit.ChainVerifier;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What a server records in its audit trail, read through its API.
class AuditTest {

  private static final String[] ANN = {
    "Authorization", "Bearer secret", "X-Forwarded-For", "192.0.2.1"
  };
  private static final String[] BOB = {
    "Authorization", "Bearer password", "X-Forwarded-For", "192.0.2.2"
  };

  private static TestServer testServer;

  @BeforeAll
  static void open(@TempDir Path folder) throws IOException {
    testServer =
        TestServer.configured(
            folder,
            """
            auth:
              tokens:
                - {name: ann, sha256: "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"}
                - {name: bob, sha256: "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"}
            trustedProxies: [127.0.0.1]
            """);
  }

  @AfterAll
  static void close() {
    testServer.close();
  }

  /// The records that this query finds, newest first.
  private static List<JsonNode> records(String query) {
    var reply = testServer.get("/api/audit?limit=1000&" + query, ANN);
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    var found = new ArrayList<JsonNode>();
    Json.mapper()
        .readTree(reply.body())
        .path("items")
        .forEach(item -> found.add(item.path("record")));
    return found;
  }

  private static void assertRecord(
      JsonNode found, String principal, String address, String result, String code) {
    assertThat(found.path("principal").asString()).isEqualTo(principal);
    assertThat(found.path("address").asString()).isEqualTo(address);
    assertThat(found.path("result").asString()).isEqualTo(result);
    assertThat(found.path("code").asString()).isEqualTo(code);
  }

  private static void create(String context, String owner) {
    testServer.log.create(new ContextId(context), new ContextCreated(owner, null, null));
  }

  @Test
  void a_login_and_a_wrong_token_are_recorded() {
    testServer.post("/api/login", "{\"token\":\"secret\"}", "X-Forwarded-For", "192.0.2.7");
    testServer.get(
        "/api/contexts", "Authorization", "Bearer wrong-token", "X-Forwarded-For", "192.0.2.8");
    testServer.get("/api/contexts", "X-Forwarded-For", "192.0.2.9");

    var in = records("action=POST%20/api/login");
    assertThat(in).hasSize(1);
    assertRecord(in.getFirst(), "ann", "192.0.2.7", "succeeded", "");
    assertThat(in.getFirst().path("credential").asString()).isEqualTo("token:ann");
    var failed = records("action=sign-in-failed").getFirst();
    assertRecord(failed, "", "192.0.2.8", "refused", "unauthorized");
    assertThat(testServer.get("/api/audit", ANN).body())
        .doesNotContain("wrong-token", "secret", "password", "192.0.2.9");
  }

  @Test
  void a_context_of_somebody_else_is_refused_and_recorded_like_one_that_does_not_exist() {
    create("of-ann", "ann");
    assertThat(testServer.get("/api/contexts/of-ann/events", BOB).statusCode()).isEqualTo(404);
    assertThat(testServer.get("/api/contexts/of-nobody/events", BOB).statusCode()).isEqualTo(404);

    for (var target : List.of("context:of-ann", "context:of-nobody")) {
      var found = records("target=" + target);
      assertThat(found).hasSize(1);
      assertRecord(found.getFirst(), "bob", "192.0.2.2", "refused", "not-found");
      assertThat(found.getFirst().path("action").asString())
          .isEqualTo("GET /api/contexts/{c}/events");
      assertThat(found.getFirst().path("credential").asString()).isEqualTo("token:bob");
    }
  }

  @Test
  void a_deletion_is_recorded() {
    create("to-delete", "ann");
    assertThat(
            testServer
                .send(testServer.request("/api/contexts/to-delete", ANN).DELETE())
                .statusCode())
        .isEqualTo(204);

    var found = records("target=context:to-delete");
    assertThat(found).hasSize(1);
    assertRecord(found.getFirst(), "ann", "192.0.2.1", "succeeded", "");
    assertThat(found.getFirst().path("action").asString()).isEqualTo("DELETE /api/contexts/{c}");
  }

  @Test
  void a_key_is_recorded_when_it_is_created_and_revoked() {
    var created = testServer.post("/api/keys", "{\"name\":\"build\"}", ANN);
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    var revoked = testServer.send(testServer.request("/api/keys/build", ANN).DELETE());
    assertThat(revoked.statusCode()).isEqualTo(204);

    assertRecord(
        records("action=POST%20/api/keys").getFirst(), "ann", "192.0.2.1", "succeeded", "");
    var end = records("target=key:build");
    assertThat(end).hasSize(1);
    assertRecord(end.getFirst(), "ann", "192.0.2.1", "succeeded", "");
  }

  @Test
  void an_approval_is_recorded_with_the_person_and_the_address() throws IOException {
    create("approved", "ann");
    assertThat(
            testServer
                .post("/api/contexts/approved/messages", "{\"content\":\"run echo hello\"}", ANN)
                .statusCode())
        .isEqualTo(202);
    String input;
    try (var reader =
        testServer.stream("/api/contexts/approved/stream?kinds=input-required", ANN)) {
      input = Objects.requireNonNull(reader.nextEvent()).json().path("inputId").asString();
    }
    var answer =
        testServer.post(
            "/api/contexts/approved/inputs/" + input, "{\"value\":{\"approved\":false}}", ANN);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);

    // The record is durable before the reply.
    var found = records("action=approval&target=context:approved");
    assertThat(found).hasSize(1);
    assertRecord(found.getFirst(), "ann", "192.0.2.1", "succeeded", "");
    assertThat(found.getFirst().path("details").path("approved").asString()).isEqualTo("false");
    assertThat(found.getFirst().path("details").path("inputId").asString()).isEqualTo(input);
  }

  @Test
  void the_trail_can_be_paged_through_and_verified() {
    create("verified", "ann");
    for (var i = 0; i < 5; i++) {
      testServer.get("/api/contexts/verified-" + i + "/events", BOB);
    }
    var verifier = new ChainVerifier(ChainPoint.START);
    var after = 0L;
    JsonNode page;
    do {
      page =
          Json.mapper().readTree(testServer.get("/api/audit?limit=2&after=" + after, ANN).body());
      for (var item : page.path("items")) {
        var line =
            "{\"hash\":\"%s\",\"record\":%s}"
                .formatted(item.path("hash").asString(), item.path("record").toString());
        assertThat(verifier.accept(dev.parley.audit.AuditRecord.parseLine(line)))
            .as(verifier.problem().orElse(""))
            .isTrue();
      }
      after = page.path("next").asLong();
    } while (after > 0);
    assertThat(verifier.last().number()).isEqualTo(page.path("head").path("number").asLong());
  }

  @Test
  void wrong_filters_are_explained() {
    for (var query : List.of("result=maybe", "since=yesterday", "after=-1", "actor=x")) {
      assertThat(testServer.get("/api/audit?" + query, ANN).statusCode()).as(query).isEqualTo(400);
    }
  }

  @Test
  void at_home_a_missing_context_leaves_no_trace(@TempDir Path folder) {
    try (var home = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      assertThat(home.get("/api/contexts/none/events").statusCode()).isEqualTo(404);
      assertThat(home.log.read(home.context("c"), Position.START, 1)).hasSize(1);
      assertThat(folder.resolve("data/audit.db")).doesNotExist();
    }
  }
}
