package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// How long a question was open.
@Timeout(60)
class AnswerTimeTest {

  private static final String CONFIG =
      "agents: [{id: one, tools: [ask_user]}]\nmodels: {m: {provider: offline}}";

  @TempDir Path folder;

  private final AtomicReference<Instant> clock =
      new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));

  @Test
  void EVENT_29_an_answer_says_how_long_its_question_was_open_also_across_a_restart()
      throws Exception {
    ChatTestClient.Sent sent;
    String input;
    try (var testServer = TestServer.durable(folder, CONFIG, clock::get)) {
      var chatTestClient = new ChatTestClient(testServer);
      sent = chatTestClient.say("ask me which colour");
      try (var reader = chatTestClient.stream(sent.conversationId())) {
        var asked =
            ChatTestClient.until(
                reader, frame -> frame.json().path("stage").asString().equals("input-required"));
        input = asked.getLast().json().path("metadata").path("inputId").asString();
      }
    }
    clock.updateAndGet(now -> now.plus(Duration.ofSeconds(90)));
    try (var testServer = TestServer.durable(folder, CONFIG, clock::get)) {
      var chatTestClient = new ChatTestClient(testServer);
      var context = "/api/contexts/" + sent.conversationId();
      var answer = Json.object().put("value", "red").toString();
      assertThat(testServer.post(context + "/inputs/" + input, answer).statusCode())
          .isLessThan(300);
      chatTestClient.follow(sent);

      var received =
          chatTestClient.read(context + "/events?kinds=input-received").path("events").get(0);
      assertThat(received.path("metadata").path("duration").asLong()).isEqualTo(90_000);
    }
  }
}
