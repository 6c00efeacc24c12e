package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.server.ChatTestClient.Sent;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Paging, editing, deleting: CHAT-24, CHAT-25, CHAT-88, CHAT-89, CORE-13, CORE-15.
class ChatHistoryTest extends ChatFixture {

  @Test
  void messages_are_paged_by_offset_and_by_cursor_s1_89() throws Exception {
    var path = talk(5);
    var whole = ids(chatTestClient.read(path).path("messages"));
    assertThat(whole).hasSize(10);

    var byOffset = new ArrayList<String>();
    var more = true;
    while (more) {
      var page = chatTestClient.read(path + "?limit=3&offset=" + byOffset.size());
      assertThat(page.path("total").asInt()).isEqualTo(10);
      byOffset.addAll(ids(page.path("messages")));
      more = page.path("hasMore").asBoolean();
    }
    assertThat(byOffset).isEqualTo(whole);

    var beyond = chatTestClient.read(path + "?offset=500");
    assertThat(beyond.path("messages")).isEmpty();
    assertThat(chatTestClient.read(path + "?after=" + beyond.path("nextAfter")).path("messages"))
        .isEmpty();
    assertThat(beyond.path("nextAfter").asLong()).isPositive();

    var byCursor = new ArrayList<String>();
    var after = 0L;
    more = true;
    while (more) {
      var page = chatTestClient.read(path + "?limit=4&after=" + after);
      byCursor.addAll(ids(page.path("messages")));
      after = page.path("nextAfter").asLong();
      more = page.path("hasMore").asBoolean();
      if (byCursor.size() == 4) {
        // What is said meanwhile comes at the end, and nothing comes twice.
        chatTestClient.follow(chatTestClient.say("c", "say late"));
      }
    }
    assertThat(byCursor)
        .hasSize(12)
        .doesNotHaveDuplicates()
        .startsWith(whole.toArray(String[]::new));
    assertThat(chatTestClient.read(path + "?after=" + after).path("messages")).isEmpty();
    assertThat(chatTestClient.read(path + "?offset=100").path("messages")).isEmpty();
  }

  @Test
  void bad_pages_are_refused_s1_89() throws Exception {
    var path = talk(1);
    for (var query : List.of("offset=-1", "offset=x", "limit=0", "after=-1", "offset=0&after=0")) {
      assertThat(chatTestClient.get(path + "?" + query).statusCode()).as(query).isEqualTo(400);
    }
    assertThat(chatTestClient.get(path + "?limit=100000").statusCode()).isEqualTo(200);
  }

  @Test
  void conversations_are_paged_by_offset_and_by_cursor_x_15() {
    for (var i = 0; i < 5; i++) {
      testServer.context("c" + i);
    }
    var byOffset = new ArrayList<String>();
    for (var more = true; more; ) {
      var page = chatTestClient.read("/chat/conversations?limit=2&offset=" + byOffset.size());
      assertThat(page.path("total").asInt()).isEqualTo(5);
      byOffset.addAll(ids(page.path("conversations")));
      more = page.path("hasMore").asBoolean();
    }
    var byCursor = new ArrayList<String>();
    var cursor = "";
    for (var more = true; more; ) {
      var page = chatTestClient.read("/chat/conversations?limit=2" + cursor);
      byCursor.addAll(ids(page.path("conversations")));
      cursor = "&cursor=" + page.path("nextCursor").asString("");
      more = page.path("hasMore").asBoolean();
    }
    assertThat(byOffset).hasSize(5).doesNotHaveDuplicates().isEqualTo(byCursor);
  }

  @Test
  void a_message_is_deleted_once_s1_24() throws Exception {
    var path = talk(2);
    var before = ids(chatTestClient.read(path).path("messages"));
    var one = path + "/" + before.get(1);

    assertThat(
            ChatTestClient.json(chatTestClient.send("DELETE", one, "")).path("success").asBoolean())
        .isTrue();
    assertThat(chatTestClient.send("DELETE", one, "").statusCode()).isEqualTo(404);
    assertThat(chatTestClient.get(one).statusCode()).isEqualTo(404);
    var rest = chatTestClient.read(path);
    assertThat(ids(rest.path("messages")))
        .containsExactly(before.get(0), before.get(2), before.get(3));
    assertThat(rest.path("total").asInt()).isEqualTo(3);
  }

  @Test
  void an_edit_keeps_what_was_before_and_tells_readers_s1_88() throws Exception {
    var path = talk(1);
    var id = ids(chatTestClient.read(path).path("messages")).getFirst();
    try (var reader = chatTestClient.stream("c")) {
      ChatTestClient.until(reader, ChatTestClient::ends);
      var first = edit(path, id, Json.object().put("content", "say one"));
      edit(path, id, Json.object().put("content", "say two"));

      assertThat(first.path("success").asBoolean()).isTrue();
      assertThat(first.path("message").path("content").asString()).isEqualTo("say one");
      assertThat(first.path("message").path("metadata").path("editedAt").asString()).endsWith("Z");
      var told =
          ChatTestClient.until(reader, f -> f.data() != null && f.data().contains("say two"));
      assertThat(ChatTestClient.types(told)).containsExactly("message_updated", "message_updated");
      assertThat(told.getLast().json().path("messageId").asString()).isEqualTo(id);
    }
    var history = chatTestClient.read(path + "/" + id).path("history");
    assertThat(history)
        .extracting(edit -> edit.path("content").asString())
        .containsExactly("say 0", "say one");
    assertThat(chatTestClient.messages("c")).hasSize(2);
  }

  @Test
  void an_edit_with_rerun_goes_back_and_answers_anew_s1_88() throws Exception {
    var path = talk(2);
    var before = chatTestClient.messages("c");
    var id = before.path(2).path("id").asString();
    var reply =
        chatTestClient.send("PATCH", path + "/" + id, "{\"content\":\"say anew\",\"rerun\":true}");
    var sent = Sent.of(ChatTestClient.json(reply));
    var events = chatTestClient.follow(sent);

    assertThat(reply.statusCode()).isEqualTo(202);
    assertThat(sent.messageId()).isNotEqualTo(id);
    assertThat(ChatTestClient.one(events, "completed").path("content").asString())
        .isEqualTo("anew");
    assertThat(texts(chatTestClient.messages("c")))
        .containsExactly("say 0", "0", "say anew", "anew");
    assertThat(chatTestClient.get(path + "/" + id).statusCode()).isEqualTo(404);
    // What was done for it can still be read.
    var old =
        chatTestClient.read(
            "/chat/tasks/" + before.path(2).path("metadata").path("taskId").asString());
    assertThat(old.path("superseded").asBoolean()).isTrue();
    assertThat(old.path("result").path("output").asString()).isEqualTo("1");
    assertThat(chatTestClient.read("/chat/tasks/" + sent.taskId()).has("superseded")).isFalse();
    assertThat(
            chatTestClient
                .send("PATCH", path + "/" + id, "{\"content\":\"x\",\"rerun\":true}")
                .statusCode())
        .isEqualTo(404);
  }

  @Test
  void only_what_a_person_said_can_be_said_anew() throws Exception {
    var path = talk(1);
    var answer = ids(chatTestClient.read(path).path("messages")).getLast();
    var body = "{\"content\":\"x\",\"rerun\":true}";

    assertThat(chatTestClient.send("PATCH", path + "/" + answer, body).statusCode()).isEqualTo(400);
    assertThat(
            chatTestClient.send("PATCH", path + "/" + answer, "{\"content\":\" \"}").statusCode())
        .isEqualTo(400);
    assertThat(chatTestClient.send("PATCH", path + "/unknown", body).statusCode()).isEqualTo(404);
  }

  @Test
  void a_rerun_is_refused_while_a_task_runs_x_13() throws Exception {
    var sent = chatTestClient.say("c", "count slowly to 1000");
    var one = "/chat/conversations/c/messages/" + sent.messageId();

    assertThat(chatTestClient.send("PATCH", one, "{\"content\":\"x\",\"rerun\":true}").statusCode())
        .isEqualTo(409);
    chatTestClient.send("DELETE", "/chat/tasks/" + sent.taskId(), "");
    chatTestClient.follow(sent);
  }

  @Test
  void a_conversation_is_renamed_and_deleted() throws Exception {
    var path = "/chat/conversations/c";
    var sent = chatTestClient.say("c", "say hi");
    chatTestClient.follow(sent);
    var renamed = chatTestClient.send("PATCH", path, "{\"title\":\"New\",\"metadata\":{\"a\":1}}");

    assertThat(ChatTestClient.json(renamed).path("conversation").path("title").asString())
        .isEqualTo("New");
    assertThat(ChatTestClient.json(renamed).path("conversation").path("metadata").path("a").asInt())
        .isOne();
    assertThat(chatTestClient.send("PATCH", path, "{}").statusCode()).isEqualTo(400);
    assertThat(
            ChatTestClient.json(chatTestClient.send("DELETE", path, ""))
                .path("success")
                .asBoolean())
        .isTrue();
    assertThat(chatTestClient.get(path).statusCode()).isEqualTo(410);
    assertThat(
            chatTestClient
                .post(Json.object().put("content", "x").put("conversationId", "c"))
                .statusCode())
        .isEqualTo(410);
    assertThat(chatTestClient.get("/chat/tasks/" + sent.taskId()).statusCode()).isEqualTo(404);
    assertThat(chatTestClient.get("/chat/stream?conversationId=c").statusCode()).isEqualTo(410);
  }

  @Test
  void a_turn_that_failed_says_so_in_the_history_s1_25() throws Exception {
    var sent = chatTestClient.say("fail");
    chatTestClient.follow(sent);
    var question = chatTestClient.messages(sent.conversationId()).path(0);

    assertThat(question.path("id").asString()).isEqualTo(sent.messageId());
    assertThat(question.path("metadata").path("status").asString()).isEqualTo("failure");
    assertThat(question.path("metadata").path("error").asString()).isNotBlank();
  }

  private String talk(int turns) throws Exception {
    for (var i = 0; i < turns; i++) {
      chatTestClient.follow(chatTestClient.say("c", "say " + i));
    }
    return "/chat/conversations/c/messages";
  }

  private JsonNode edit(String path, String id, JsonNode body) {
    var reply = chatTestClient.send("PATCH", path + "/" + id, body.toString());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return ChatTestClient.json(reply);
  }

  private static List<String> ids(JsonNode list) {
    return strings(list, "id").toList();
  }

  private static List<String> texts(JsonNode list) {
    return strings(list, "content").toList();
  }

  private static Stream<String> strings(JsonNode list, String name) {
    return list.valueStream().map(item -> item.path(name).asString());
  }
}
