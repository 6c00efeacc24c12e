package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.Json;
import dev.parley.socketio.NodeTestClient;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.StringNode;

/// Servers made with the official SDK that can do less, or want more, than the usual one.
@Timeout(120)
class RemotePeersTest {

  @TempDir Path folder;
  private NodeTestClient peer;

  @AfterEach
  void stop() {
    peer.close();
  }

  private RemoteAgentTestBed scene(String script, String wish, String settings)
      throws IOException, InterruptedException {
    peer = new NodeTestClient(script, wish);
    var url = peer.next("ready").path("url").asString();
    return new RemoteAgentTestBed(folder, RemoteAgentTestBed.peer(url, settings));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a2a/serve.mjs", "a2a-03/serve.mjs"})
  void one_that_does_not_stream_is_looked_at_again_and_again(String script) throws Exception {
    try (var scene = scene(script, "no-streams", "")) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "steps 2");
      scene.awaitText(context, "1 ");
      peer.send("go");
      scene.awaitText(context, "1 2 ");
      peer.send("go");
      assertThat(scene.answer(context, task)).isEqualTo("1 2 ");
      var asking = RemoteAgentTestBed.context();
      var waiting = scene.say(asking, "peer", "ask");
      scene.give(asking, scene.question(asking, 0), StringNode.valueOf("Bob"));
      assertThat(scene.answer(asking, waiting)).isEqualTo("you said Bob");
    }
  }

  @Test
  void the_tenant_of_a_card_is_said_with_every_request() throws Exception {
    try (var scene = scene("a2a/serve.mjs", "tenant", ", transport: jsonrpc")) {
      assertThat(scene.ask(RemoteAgentTestBed.context(), "say hello")).isEqualTo("hello");
      var sent = peer.next(f -> f.path("rpc").asString("").equals("SendStreamingMessage"));
      assertThat(sent.path("tenant").asString()).isEqualTo("acme");
    }
  }

  @Test
  void the_tenant_of_a_card_is_in_the_path_over_http_and_json() throws Exception {
    try (var scene = scene("a2a/serve.mjs", "tenant", ", transport: rest")) {
      assertThat(scene.ask(RemoteAgentTestBed.context(), "say hello")).isEqualTo("hello");
      peer.next(f -> f.path("path").asString("").equals("/rest/acme/message:stream"));
    }
  }

  @Test
  void a_card_is_found_where_it_used_to_be() throws Exception {
    try (var scene = scene("a2a-03/serve.mjs", "old-card", "")) {
      assertThat(scene.ask(RemoteAgentTestBed.context(), "say hello")).isEqualTo("hello");
    }
  }

  @Test
  void a_card_that_leads_elsewhere_is_not_followed() throws Exception {
    try (var scene = scene("a2a/serve.mjs", "elsewhere", ", token: secret-token")) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.failure(context, scene.say(context, "peer", "say hello")))
          .contains("other origins", "example.invalid");
      assertThat(scene.entries(context).toString()).doesNotContain("secret-token");
    }
  }

  @Test
  void who_signs_in_is_shown_to_the_agent_and_to_nobody_else() throws Exception {
    try (var scene = scene("a2a/serve.mjs", "usual", "")) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "auth");
      var asked =
          (AuthRequired) scene.await(context, entry -> entry.event() instanceof AuthRequired);
      assertThat(asked.prompt()).isEqualTo("Who are you?");
      scene.awaitWaiting(context, task);
      var given =
          scene.site.post(
              "/api/contexts/" + context + "/auths/" + asked.authId(),
              Json.object().put("credential", "the-key").toString());
      assertThat(given.statusCode()).as(given.body()).isLessThan(300);
      assertThat(scene.answer(context, task)).isEqualTo("you said The user has signed in.");
      peer.next(f -> f.path("authorization").asString("").equals("Bearer the-key"));
      assertThat(scene.entries(context).toString()).doesNotContain("the-key");
    }
  }
}
