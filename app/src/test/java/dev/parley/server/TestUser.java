package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Somebody who uses a site over HTTP, and remembers in [SecretLeaks] all that they were told.
record TestUser(TestServer site, SecretLeaks leaks, List<String> headers) {

  TestUser(TestServer site, SecretLeaks leaks, String... headers) {
    this(site, leaks, List.of(headers));
  }

  HttpResponse<String> post(String path, JsonNode body, String... more) {
    return heard(site.post(path, body.toString(), all(more)));
  }

  HttpResponse<String> get(String path, String... more) {
    return heard(site.get(path, all(more)));
  }

  JsonNode json(String path) {
    return Json.mapper().readTree(get(path).body());
  }

  /// Says something in a context, which is made if need be.
  ContextId say(String context, String text) {
    post("/api/contexts", Json.object().put("contextId", context));
    var body = Json.object().put("content", text).put("agentId", "agent-code");
    var answer = post("/api/contexts/" + context + "/messages", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    return new ContextId(context);
  }

  HttpResponse<String> answer(ContextId context, String input, JsonNode value, String... more) {
    ObjectNode body = Json.object();
    body.set("value", value);
    return post("/api/contexts/" + context + "/inputs/" + input, body, more);
  }

  HttpResponse<String> signIn(ContextId context, String auth, String field, String proof) {
    return post("/api/contexts/" + context + "/auths/" + auth, Json.object().put(field, proof));
  }

  /// Waits for an event of this kind.
  JsonNode await(ContextId context, String kind) {
    return await(context, event -> event.path("kind").asString().equals(kind));
  }

  JsonNode await(ContextId context, Predicate<JsonNode> wanted) {
    var position = Position.START;
    while (true) {
      var page = site.log.read(context, position, 1000);
      for (var entry : page) {
        var event = Json.mapper().readTree(EventJson.text(entry));
        leaks.hear(event.toString());
        if (wanted.test(event)) {
          return event;
        }
        position = entry.position();
      }
      try {
        assertThat(site.log.await(context, position, Duration.ofSeconds(60)))
            .as("nothing more comes after %s", position)
            .isTrue();
      } catch (InterruptedException told) {
        throw new AssertionError(told);
      }
    }
  }

  private String[] all(String... more) {
    return Stream.concat(headers.stream(), Stream.of(more)).toArray(String[]::new);
  }

  private HttpResponse<String> heard(HttpResponse<String> answer) {
    leaks.hear(answer.headers().map() + answer.body());
    return answer;
  }
}
