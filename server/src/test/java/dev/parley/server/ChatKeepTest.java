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

/// What the chat door keeps, forgets and refuses: S1.86, S1.90 to S1.92, S1.94.
@Timeout(120)
class ChatKeepTest {

  @TempDir Path folder;

  @Test
  void a_restart_keeps_everything_s1_86_s1_90_s1_92() throws Exception {
    String history;
    String task;
    Chat.Sent sent;
    List<EventReader.Frame> events;
    try (var site = Site.durable(folder, Site.Wish.USUAL)) {
      var chat = new Chat(site);
      sent = chat.say("say hi");
      events = chat.follow(sent);
      history = chat.messages(sent.conversationId()).toString();
      task = chat.read("/chat/tasks/" + sent.taskId()).toString();
    }
    try (var site = Site.durable(folder, Site.Wish.USUAL)) {
      var chat = new Chat(site);
      assertThat(chat.messages(sent.conversationId()).toString()).isEqualTo(history);
      assertThat(chat.read("/chat/tasks/" + sent.taskId()).toString()).isEqualTo(task);
      assertThat(chat.follow(sent)).isEqualTo(events);
    }
  }

  @Test
  void a_deleted_conversation_ends_its_stream_and_is_told_to_all() throws Exception {
    try (var site = Site.durable(folder, Site.Wish.USUAL)) {
      var chat = new Chat(site);
      chat.say("c", "say hi");
      try (var one = chat.stream("c");
          var all = chat.stream("")) {
        Chat.until(one, Chat::ends);
        var before = all.next().id();
        chat.send("DELETE", "/chat/conversations/c", "");

        var gap = Chat.until(one, f -> f.event().equals("stream_gap")).getLast();
        assertThat(gap.json().path("reason").asString()).isEqualTo("deleted");
        var deleted = told(all);
        assertThat(deleted.path("conversationId").asString()).isEqualTo("c");
        // S1.93: no reader can guess it.
        assertThat(UUID.fromString(deleted.path("eventId").asString()).version()).isEqualTo(4);
        try (var late = chat.stream("", "Last-Event-ID", before)) {
          assertThat(told(late).path("eventId")).isEqualTo(deleted.path("eventId"));
        }
      }
    }
  }

  @Test
  void idle_conversations_go_after_a_while_s1_91() throws Exception {
    var yaml = "retention: {idleContexts: 1s}\n";
    try (var site = Site.durable(folder, Site.Wish.USUAL, yaml)) {
      var chat = new Chat(site);
      try (var all = chat.stream("")) {
        all.next();
        var sent = chat.say("c", "say hi");
        Chat.until(all, f -> Chat.ends(f, sent));

        assertThat(told(all).path("conversationId").asString()).isEqualTo("c");
        assertThat(chat.get("/chat/conversations/c/messages").statusCode()).isEqualTo(410);
        assertThat(chat.get("/chat/tasks/" + sent.taskId()).statusCode()).isEqualTo(404);
      }
    }
  }

  @Test
  void every_refusal_has_the_form_of_this_door_s1_94() throws Exception {
    var httpLimits = new HttpLimits(200, 100, Duration.ofSeconds(20), Duration.ofSeconds(20));
    var wish =
        Site.Wish.USUAL
            .limits(httpLimits)
            .tokens(new ApiToken("ann", ChatMessagesTest.sha256("ann-token")));
    try (var site = Site.open(folder, wish)) {
      var ann = Chat.as(site, "ann-token");
      check(site.get("/chat/conversations"), 401);
      check(ann.get("/chat/nowhere"), 404);
      check(ann.get("/chat"), 404);
      check(ann.get("/chat/tasks/unknown"), 404);
      check(ann.get("/chat/conversations?colour=red"), 400);
      check(ann.get("/chat/conversations/%20"), 400);
      check(ann.send("PUT", "/chat/messages", "{}"), 405);
      check(ann.send("POST", "/chat/messages", "{"), 400);
      check(ann.send("POST", "/chat/messages", "{\"content\":\"" + "x".repeat(300) + "\"}"), 413);
      var text = site.request("/chat/messages", "Authorization", "Bearer ann-token");
      var plain = text.header("Content-Type", "text/plain").POST(BodyPublishers.ofString("hi"));
      check(site.send(plain), 415);
      // Others keep theirs.
      var problem = ann.get("/chatter");
      assertThat(problem.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    }
  }

  private static void check(HttpResponse<String> reply, int status) {
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(status);
    assertThat(reply.headers().firstValue("Content-Type")).hasValue("application/json");
    var json = Chat.json(reply);
    assertThat(json.propertyNames()).containsExactly("success", "error", "code");
    assertThat(json.path("success").asBoolean(true)).isFalse();
    assertThat(json.path("error").asString()).isNotBlank();
    assertThat(json.path("code").asString()).matches("[a-z0-9-]+");
  }

  private static JsonNode told(EventReader all) throws Exception {
    return Chat.until(all, f -> f.event().equals("conversation_deleted")).getLast().json();
  }
}
