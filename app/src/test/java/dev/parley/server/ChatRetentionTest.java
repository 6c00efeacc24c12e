package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.http.HttpLimits;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What the chat API keeps, forgets and refuses: CHAT-86, CHAT-90 to CHAT-92, CHAT-94.
@Timeout(120)
class ChatRetentionTest {

  @TempDir Path folder;

  @Test
  void a_restart_keeps_everything_s1_86_s1_90_s1_92() throws Exception {
    String history;
    String task;
    ChatTestClient.Sent sent;
    List<EventReader.Frame> events;
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var chatTestClient = new ChatTestClient(testServer);
      sent = chatTestClient.say("say hi");
      events = chatTestClient.follow(sent);
      history = chatTestClient.messages(sent.conversationId()).toString();
      task = chatTestClient.read("/chat/tasks/" + sent.taskId()).toString();
    }
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var chatTestClient = new ChatTestClient(testServer);
      assertThat(chatTestClient.messages(sent.conversationId()).toString()).isEqualTo(history);
      assertThat(chatTestClient.read("/chat/tasks/" + sent.taskId()).toString()).isEqualTo(task);
      assertThat(chatTestClient.follow(sent)).isEqualTo(events);
    }
  }

  @Test
  void a_deleted_conversation_ends_its_stream_and_is_told_to_all() throws Exception {
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var chatTestClient = new ChatTestClient(testServer);
      chatTestClient.say("c", "say hi");
      try (var one = chatTestClient.stream("c");
          var all = chatTestClient.stream("")) {
        ChatTestClient.until(one, ChatTestClient::ends);
        var before = all.next().id();
        chatTestClient.send("DELETE", "/chat/conversations/c", "");

        var gap = ChatTestClient.until(one, f -> f.event().equals("stream_gap")).getLast();
        assertThat(gap.json().path("reason").asString()).isEqualTo("deleted");
        var deleted = told(all);
        assertThat(deleted.path("conversationId").asString()).isEqualTo("c");
        // CHAT-93: no reader can guess it.
        assertThat(UUID.fromString(deleted.path("eventId").asString()).version()).isEqualTo(4);
        try (var late = chatTestClient.stream("", "Last-Event-ID", before)) {
          assertThat(told(late).path("eventId")).isEqualTo(deleted.path("eventId"));
        }
      }
    }
  }

  @Test
  void idle_conversations_go_after_a_while_s1_91() throws Exception {
    var yaml = "retention: {idleContexts: 1s}\n";
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL, yaml)) {
      var chatTestClient = new ChatTestClient(testServer);
      try (var all = chatTestClient.stream("")) {
        all.next();
        var sent = chatTestClient.say("c", "say hi");
        ChatTestClient.until(all, f -> ChatTestClient.ends(f, sent));

        assertThat(told(all).path("conversationId").asString()).isEqualTo("c");
        assertThat(chatTestClient.get("/chat/conversations/c/messages").statusCode())
            .isEqualTo(410);
        assertThat(chatTestClient.get("/chat/tasks/" + sent.taskId()).statusCode()).isEqualTo(404);
      }
    }
  }

  @Test
  void every_refusal_has_the_form_of_this_api_s1_94() throws Exception {
    var httpLimits = new HttpLimits(200, 100, Duration.ofSeconds(20), Duration.ofSeconds(20));
    var wish =
        TestServer.Wish.USUAL
            .limits(httpLimits)
            .tokens(new ApiToken("ann", ChatMessagesTest.sha256("ann-token")));
    try (var testServer = TestServer.open(folder, wish)) {
      var ann = ChatTestClient.as(testServer, "ann-token");
      check(testServer.get("/chat/conversations"), 401);
      check(ann.get("/chat/nowhere"), 404);
      check(ann.get("/chat"), 404);
      check(ann.get("/chat/tasks/unknown"), 404);
      check(ann.get("/chat/conversations?colour=red"), 400);
      check(ann.get("/chat/conversations/%20"), 400);
      check(ann.send("PUT", "/chat/messages", "{}"), 405);
      check(ann.send("POST", "/chat/messages", "{"), 400);
      check(ann.send("POST", "/chat/messages", "{\"content\":\"" + "x".repeat(300) + "\"}"), 413);
      var text = testServer.request("/chat/messages", "Authorization", "Bearer ann-token");
      var plain = text.header("Content-Type", "text/plain").POST(BodyPublishers.ofString("hi"));
      check(testServer.send(plain), 415);
      // Others keep theirs.
      var problem = ann.get("/chatter");
      assertThat(problem.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    }
  }

  private static void check(HttpResponse<String> reply, int status) {
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(status);
    assertThat(reply.headers().firstValue("Content-Type")).hasValue("application/json");
    var json = ChatTestClient.json(reply);
    assertThat(json.propertyNames()).containsExactly("success", "error", "code");
    assertThat(json.path("success").asBoolean(true)).isFalse();
    assertThat(json.path("error").asString()).isNotBlank();
    assertThat(json.path("code").asString()).matches("[a-z0-9-]+");
  }

  private static JsonNode told(EventReader all) throws Exception {
    return ChatTestClient.until(all, f -> f.event().equals("conversation_deleted"))
        .getLast()
        .json();
  }
}
