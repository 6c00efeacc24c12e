package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.Json;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What agents say of themselves, to whom, in which version.
class A2aCardTest {

  private static final String CARD = "/a2a/helper/.well-known/agent-card.json";

  @TempDir private Path folder;

  private static JsonNode json(HttpResponse<String> reply) {
    return Json.mapper().readTree(reply.body());
  }

  private static List<String> names(JsonNode object) {
    return List.copyOf(object.propertyNames());
  }

  @Test
  void the_form_of_a_card_is_that_of_the_version_which_asks() {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML)) {
      var pure = json(testServer.get(CARD, "A2A-Version", "1.0"));
      var hybrid = json(testServer.get(CARD));

      assertThat(names(pure))
          .containsExactlyInAnyOrder(
              "name",
              "description",
              "version",
              "supportedInterfaces",
              "capabilities",
              "defaultInputModes",
              "defaultOutputModes",
              "skills");
      assertThat(names(hybrid))
          .contains("url", "preferredTransport", "additionalInterfaces", "protocolVersion")
          .containsAll(names(pure));
      assertThat(hybrid.path("url").asString()).isEqualTo(testServer.url + "/a2a/helper");
      assertThat(pure.path("supportedInterfaces").findValuesAsString("protocolVersion"))
          .containsExactly("1.0", "1.0", "0.3", "0.3");
      assertThat(pure.path("capabilities").path("extensions").findValuesAsString("uri"))
          .containsExactly("https://kagent.dev/extensions/hitl/v1");
      assertThat(pure.path("skills").get(0).path("tags").isEmpty()).isFalse();
      assertThat(json(testServer.get("/a2a/helper/.well-known/agent.json"))).isEqualTo(hybrid);
      assertThat(json(testServer.get("/api/a2a/ns/helper/.well-known/agent-card.json")))
          .isEqualTo(hybrid);
      assertThat(json(testServer.get("/.well-known/agent-card.json")).path("url").asString())
          .isEqualTo(testServer.url + "/a2a/supervisor");
      assertThat(testServer.get("/a2a/nobody/.well-known/agent-card.json").statusCode())
          .isEqualTo(404);
    }
  }

  @Test
  void a_card_that_has_not_changed_is_not_sent_again() {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML)) {
      var first = testServer.get(CARD);
      var tag = first.headers().firstValue("ETag").orElseThrow();

      assertThat(first.headers().firstValue("Cache-Control")).hasValue("public, max-age=3600");
      assertThat(first.headers().firstValue("Vary").orElseThrow()).contains("A2A-Version");
      assertThat(testServer.get(CARD, "If-None-Match", tag).statusCode()).isEqualTo(304);
      assertThat(testServer.get(CARD, "If-None-Match", tag, "A2A-Version", "1.0").statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  void a_card_can_be_pure_for_all() {
    var yaml = A2aJsonRpcTest.YAML + "a2a: {card: pure}\n";
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, yaml)) {
      assertThat(names(json(testServer.get(CARD)))).doesNotContain("url");
      assertThat(names(json(testServer.get(CARD, "A2A-Version", "0.3")))).contains("url");
    }
  }

  @Test
  void the_extended_card_is_for_those_with_a_token() throws Exception {
    var hash =
        MessageDigest.getInstance("SHA-256").digest("secret".getBytes(StandardCharsets.UTF_8));
    var wish = TestServer.Wish.USUAL.tokens(new ApiToken("ada", HexFormat.of().formatHex(hash)));
    try (var testServer = TestServer.durable(folder, wish, A2aJsonRpcTest.YAML)) {
      var card = json(testServer.get(CARD, "A2A-Version", "1.0"));
      assertThat(card.path("capabilities").path("extendedAgentCard").asBoolean()).isTrue();
      assertThat(card.path("securitySchemes").path("bearer").has("httpAuthSecurityScheme"))
          .isTrue();
      assertThat(card.path("securityRequirements").size()).isEqualTo(1);
      assertThat(json(testServer.get(CARD)).path("security").size()).isEqualTo(1);

      var path = "/a2a/helper/extendedAgentCard";
      assertThat(testServer.get(path).statusCode()).isEqualTo(401);
      var extended = json(testServer.get(path, "Authorization", "Bearer secret"));
      assertThat(extended.path("skills").findValuesAsString("id")).contains("tool-shell");
      assertThat(card.path("skills").findValuesAsString("id")).doesNotContain("tool-shell");
      assertThat(
              json(testServer.get("/a2a/helper/v1/card", "Authorization", "Bearer secret"))
                  .path("supportsAuthenticatedExtendedCard")
                  .asBoolean())
          .isTrue();
      assertThat(
              new A2aTestClient(testServer, "helper", "1.0")
                  .call("GetExtendedAgentCard", Json.object(), "Authorization", "Bearer secret")
                  .path("result"))
          .isEqualTo(extended);
    }
  }

  @Test
  void without_tokens_there_is_no_extended_card() {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, A2aJsonRpcTest.YAML)) {
      assertThat(
              new A2aTestClient(testServer, "helper", "0.3")
                  .error("agent/getAuthenticatedExtendedCard", Json.object()))
          .isEqualTo(-32007);
      assertThat(
              new A2aTestClient(testServer, "helper", "1.0")
                  .error("GetExtendedAgentCard", Json.object()))
          .isEqualTo(-32004);
      assertThat(testServer.get("/a2a/helper/extendedAgentCard").statusCode()).isEqualTo(400);
    }
  }

  @Test
  void an_extension_that_callers_must_know_is_declared_and_asked_for() {
    var yaml = A2aJsonRpcTest.YAML + "a2a: {requiredExtensions: [\"urn:test:needed\"]}\n";
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, yaml)) {
      var peer = new A2aTestClient(testServer, "helper", "1.0");
      assertThat(json(testServer.get(CARD)).path("capabilities").path("extensions").toString())
          .contains("\"uri\":\"urn:test:needed\",\"required\":true");
      assertThat(peer.error("SendMessage", peer.say("m1", "say x"))).isEqualTo(-32008);
      var reply =
          testServer.post(
              peer.path,
              A2aTestClient.request("SendMessage", peer.say("m1", "say x")),
              peer.with("A2A-Extensions", "urn:test:needed, urn:test:other"));
      assertThat(reply.body()).contains("TASK_STATE_COMPLETED");
      assertThat(reply.headers().firstValue("A2A-Extensions")).hasValue("urn:test:needed");
    }
  }
}
