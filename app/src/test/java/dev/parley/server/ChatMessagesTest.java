package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.ApiTokens.ApiToken;
import dev.parley.protocol.Json;
import dev.parley.server.ChatTestClient.Sent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Conversations and messages of the chat API: CHAT-A, CHAT-B, CORE-2, CORE-7.
class ChatMessagesTest extends ChatFixture {

  private static final String ISO_MILLIS = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z";
  private static final String ANN = "ann-token";
  private static final String BEN = "ben-token";

  @Test
  void a_first_message_makes_a_conversation_s1_2_to_s1_4_s1_54() {
    for (var body :
        List.of(
            Json.object().put("content", "Hello, I need help with code"),
            Json.object().put("content", "Hello").putNull("conversationId"))) {
      var reply = chatTestClient.post(body.put("workingDirectory", folder.toString()));
      var json = ChatTestClient.json(reply);

      assertThat(reply.statusCode()).isEqualTo(202);
      assertThat(json.propertyNames())
          .containsExactly("success", "conversationId", "messageId", "taskId");
      assertThat(json.path("success").asBoolean()).isTrue();
      for (var id : List.of("conversationId", "messageId", "taskId")) {
        assertThat(UUID.fromString(json.path(id).asString()).version()).isEqualTo(4);
      }
    }
  }

  @Test
  void a_reply_does_not_wait_for_the_answer_s1_3() throws Exception {
    var sent = chatTestClient.say("count slowly to 1000");

    assertThat(chatTestClient.messages(sent.conversationId())).hasSize(1);
    chatTestClient.send("DELETE", "/chat/tasks/" + sent.taskId(), "");
    chatTestClient.follow(sent);
  }

  @Test
  void a_known_conversation_goes_on_s1_5_s1_7() throws Exception {
    var first = chatTestClient.say("say one");
    chatTestClient.follow(first);
    var before = conversation(first);
    var second = chatTestClient.say(first.conversationId(), "say two");
    chatTestClient.follow(second);
    var after = conversation(first);

    assertThat(second.conversationId()).isEqualTo(first.conversationId());
    assertThat(chatTestClient.read("/chat/conversations").path("conversations")).hasSize(1);
    assertThat(Instant.parse(after.path("updatedAt").asString()))
        .isAfterOrEqualTo(Instant.parse(before.path("updatedAt").asString()));
    assertThat(after.path("title").asString()).isEqualTo("say one");
    assertThat(after.path("createdAt")).isEqualTo(before.path("createdAt"));
  }

  @Test
  void a_client_may_choose_the_id_s1_6() throws Exception {
    var id = "550e8400-e29b-41d4-a716-446655440000";
    var sent = chatTestClient.say(id, "say hi");
    chatTestClient.follow(sent);

    assertThat(sent.conversationId()).isEqualTo(id);
    var conversation = conversation(sent);
    assertThat(conversation.path("id").asString()).isEqualTo(id);
    assertThat(conversation.propertyNames())
        .containsExactly("id", "title", "createdAt", "updatedAt");
    assertThat(conversation.path("createdAt").asString()).matches(ISO_MILLIS);
    assertThat(conversation.path("updatedAt").asString()).matches(ISO_MILLIS);
    // CORE-2: the same conversation, under the same ids, at the native API.
    var contexts =
        Json.mapper().readTree(testServer.get("/api/contexts/" + id + "/messages").body());
    assertThat(contexts.path("items").path(0).path("messageId").asString())
        .isEqualTo(sent.messageId());
  }

  @Test
  void a_title_is_cut_at_fifty_characters_and_never_inside_one_s1_7_s1_8() {
    var title = chatTestClient.say("x".repeat(49) + "\uD83D\uDE00" + "y".repeat(10));

    assertThat(conversation(title).path("title").asString()).isEqualTo("x".repeat(49));
  }

  @Test
  void a_bad_working_directory_leaves_nothing_behind_s1_9_s1_10() throws Exception {
    var file = Files.writeString(folder.resolve("file.txt"), "x");
    var link = Files.createSymbolicLink(folder.resolve("out"), Path.of("/"));
    Files.createDirectory(folder.resolve("relative"));
    for (var directory : List.of("relative", "/nowhere", "/", file.toString(), link.toString())) {
      var body = Json.object().put("content", "hi").put("conversationId", "c-1");
      var reply = chatTestClient.post(body.put("workingDirectory", directory));

      assertThat(reply.statusCode()).as(directory).isEqualTo(400);
      assertThat(ChatTestClient.json(reply).path("success").asBoolean(true)).isFalse();
    }
    Files.delete(link);
    assertThat(chatTestClient.get("/chat/conversations/c-1").statusCode()).isEqualTo(404);
    assertThat(chatTestClient.read("/chat/conversations").path("total").asInt()).isZero();
  }

  @Test
  void metadata_of_a_message_comes_back_unchanged_s1_17() throws Exception {
    var metadata = Json.object().put("source", "form").put("steer", true).put("summary", "none");
    metadata.putArray("tags").add("a").addObject().put("deep", 1);
    metadata.putNull("nothing");
    var sent =
        chatTestClient.sent(Json.object().put("content", "say hi").set("metadata", metadata));
    chatTestClient.follow(sent);

    var said = chatTestClient.messages(sent.conversationId()).get(0);
    var kept = (ObjectNode) said.path("metadata").deepCopy();
    assertThat(kept.remove("taskId").asString()).isEqualTo(sent.taskId());
    assertThat(kept).isEqualTo(metadata);

    var path = "/chat/conversations/" + sent.conversationId() + "/messages/" + sent.messageId();
    chatTestClient.send("PATCH", path, "{\"content\":\"say hello\",\"rerun\":true}");
    var anew = chatTestClient.messages(sent.conversationId()).get(0);
    assertThat(anew.path("content").asString()).isEqualTo("say hello");
    assertThat(anew.at("/metadata/tags")).isEqualTo(metadata.path("tags"));
  }

  @Test
  void a_message_needs_text_s1_11() {
    for (var body :
        List.of("{}", "{\"content\":\"\"}", "{\"content\":\" \\n\"}", "{\"content\":null}")) {
      assertThat(testServer.post("/chat/messages", body).statusCode()).as(body).isEqualTo(400);
    }
    assertThat(chatTestClient.read("/chat/conversations").path("total").asInt()).isZero();
  }

  @Test
  void an_id_of_the_clients_own_is_ignored_s1_18() {
    var sent =
        chatTestClient.sent(
            Json.object().put("content", "say hi").put("id", "mine").put("role", "x"));

    assertThat(sent.messageId()).isNotEqualTo("mine");
    assertThat(chatTestClient.messages(sent.conversationId()).path(0).path("id").asString())
        .isEqualTo(sent.messageId());
  }

  @Test
  void concurrent_first_posts_make_one_conversation_s1_13() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var posts =
          IntStream.range(0, 8)
              .<Callable<Sent>>mapToObj(i -> () -> chatTestClient.say("shared", "say " + i))
              .toList();
      var ids = new HashSet<String>();
      for (var sent : threads.invokeAll(posts)) {
        ids.add(sent.get().messageId());
      }
      assertThat(ids).hasSize(8);
    }
    assertThat(chatTestClient.read("/chat/conversations").path("total").asInt()).isEqualTo(1);
    assertThat(chatTestClient.messages("shared"))
        .filteredOn(message -> message.path("role").asString().equals("user"))
        .hasSize(8);
  }

  @Test
  void history_has_the_fields_of_the_example_s1_16_s1_20_to_s1_22() throws Exception {
    var sent = chatTestClient.say("say hello");
    chatTestClient.follow(sent);
    var history = chatTestClient.read("/chat/conversations/" + sent.conversationId() + "/messages");
    var user = history.path("messages").path(0);
    var assistant = history.path("messages").path(1);

    assertThat(history.path("success").asBoolean()).isTrue();
    assertThat(history.path("messages")).hasSize(2);
    for (var message : List.of(user, assistant)) {
      assertThat(message.propertyNames())
          .containsExactly("id", "conversationId", "role", "content", "createdAt", "metadata");
      assertThat(message.path("conversationId").asString()).isEqualTo(sent.conversationId());
      assertThat(message.path("createdAt").asString()).matches(ISO_MILLIS);
      assertThat(message.path("metadata").path("taskId").asString()).isEqualTo(sent.taskId());
    }
    assertThat(user.path("id").asString()).isEqualTo(sent.messageId());
    assertThat(user.path("role").asString()).isEqualTo("user");
    assertThat(assistant.path("id").asString()).isNotEqualTo(sent.messageId());
    assertThat(UUID.fromString(assistant.path("id").asString()).version()).isEqualTo(4);
    assertThat(assistant.path("role").asString()).isEqualTo("assistant");
    assertThat(assistant.path("content").asString()).isEqualTo("hello");
    var metadata = assistant.path("metadata");
    assertThat(metadata.path("agentId").asString()).isEqualTo("agent-code");
    assertThat(metadata.path("usage").path("inputTokens").asLong()).isPositive();
    assertThat(metadata.path("usage").path("outputTokens").asLong()).isPositive();
    assertThat(metadata.path("duration").isNumber()).isTrue();
  }

  @Test
  void an_unknown_conversation_is_not_an_empty_one_s1_23() {
    for (var path : List.of("", "/messages", "/tasks", "/messages/m")) {
      var reply = chatTestClient.get("/chat/conversations/unknown" + path);
      assertThat(reply.statusCode()).isEqualTo(404);
      assertThat(ChatTestClient.json(reply).propertyNames())
          .containsExactly("success", "error", "code");
    }
  }

  @Test
  void other_peoples_conversations_do_not_exist_s1_12_s1_14() throws Exception {
    var wish =
        TestServer.Wish.USUAL.tokens(
            new ApiToken("ann", sha256(ANN)), new ApiToken("ben", sha256(BEN)));
    try (var shared = TestServer.open(folder.resolve("shared"), wish)) {
      var ann = ChatTestClient.as(shared, ANN);
      var ben = ChatTestClient.as(shared, BEN);
      var sent = ann.say("anns", "say secret");
      ann.follow(sent);

      assertThat(
              ben.post(Json.object().put("content", "x").put("conversationId", "anns"))
                  .statusCode())
          .isEqualTo(404);
      for (var path :
          List.of(
              "/chat/conversations/anns",
              "/chat/conversations/anns/messages",
              "/chat/conversations/anns/tasks",
              "/chat/tasks/" + sent.taskId(),
              "/chat/tasks/" + sent.taskId() + "/events")) {
        var reply = ben.get(path);
        assertThat(reply.statusCode()).as(path).isEqualTo(404);
        assertThat(reply.body()).doesNotContain("secret");
      }
      assertThat(ben.get("/chat/tasks/" + sent.taskId()).body()).doesNotContain("anns");
      assertThat(ben.send("DELETE", "/chat/conversations/anns", "").statusCode()).isEqualTo(404);
      assertThat(ben.send("DELETE", "/chat/tasks/" + sent.taskId(), "").statusCode())
          .isEqualTo(404);
      assertThat(ben.read("/chat/conversations").path("total").asInt()).isZero();
      assertThat(ann.messages("anns")).hasSize(2);
    }
  }

  @Test
  void the_same_message_twice_is_one_x_7() {
    var body = Json.object().put("content", "say hi");
    var first = ChatTestClient.json(chatTestClient.post(body, "Idempotency-Key", "k1"));
    var again = ChatTestClient.json(chatTestClient.post(body, "Idempotency-Key", "k1"));
    var other =
        chatTestClient.post(Json.object().put("content", "say ho"), "Idempotency-Key", "k1");

    assertThat(again).isEqualTo(first);
    assertThat(other.statusCode()).isEqualTo(409);
    assertThat(chatTestClient.read("/chat/conversations").path("total").asInt()).isEqualTo(1);
  }

  private JsonNode conversation(Sent sent) {
    return chatTestClient.read("/chat/conversations/" + sent.conversationId()).path("conversation");
  }

  static String sha256(String token) throws NoSuchAlgorithmException {
    var bytes = token.getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }
}
