package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.server.ChatTestClient.Sent;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// Tasks, their events, results and cancelling at the chat API: CHAT-D, CHAT-F, CHAT-G, CHAT-H, CHAT-90, CHAT-92.
class ChatTasksTest extends ChatFixture {

  @Test
  void a_task_has_the_shape_of_the_document_s1_46_s1_47_s1_49_s1_50_s1_84_s1_85() throws Exception {
    var sent = chatTestClient.say("say hello");
    chatTestClient.follow(sent);
    var shown = chatTestClient.read("/chat/tasks/" + sent.taskId());
    var task = shown.path("task");
    var result = shown.path("result");

    assertThat(shown.path("success").asBoolean()).isTrue();
    assertThat(task.path("id").asString()).isEqualTo(sent.taskId());
    assertThat(task.path("type").asString()).isEqualTo("general");
    assertThat(task.path("prompt").asString()).isEqualTo("say hello");
    assertThat(task.path("context").path("conversationId").asString())
        .isEqualTo(sent.conversationId());
    assertThat(task.path("context").path("workingDirectory").asString()).isNotEmpty();
    assertThat(task.path("priority").asString()).isEqualTo("normal");
    assertThat(task.path("timeout").asLong()).isEqualTo(300_000);
    assertThat(task.path("createdAt").asString()).endsWith("Z");
    assertThat(task.path("status").asString()).isEqualTo("success");
    assertThat(result.path("taskId").asString()).isEqualTo(sent.taskId());
    assertThat(result.path("agentId").asString()).isEqualTo("agent-code");
    assertThat(result.path("status").asString()).isEqualTo("success");
    assertThat(result.path("output").asString()).isEqualTo("hello");
    assertThat(result.path("usage").path("inputTokens").asLong()).isPositive();
    assertThat(result.path("modelUsage").path("offline").isObject()).isTrue();
    assertThat(result.path("duration").isNumber()).isTrue();
    assertThat(result.path("numTurns").asInt()).isPositive();
    assertThat(result.has("error")).isFalse();
  }

  @Test
  void options_are_kept_and_bad_ones_refused_s1_48_to_s1_50() throws Exception {
    var body = Json.object().put("content", "say hi").put("conversationId", "c");
    body.put("taskType", "code_review").put("priority", "critical").put("timeoutMs", 60_000);
    var sent = chatTestClient.sent(body.put("agentId", "agent-data"));
    chatTestClient.follow(sent);
    var task = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("task");

    assertThat(task.path("type").asString()).isEqualTo("code_review");
    assertThat(task.path("priority").asString()).isEqualTo("critical");
    assertThat(task.path("timeout").asLong()).isEqualTo(60_000);
    assertThat(task.path("agentId").asString()).isEqualTo("agent-data");
    for (var bad : List.of("taskType", "priority", "strategy", "whenBusy", "agentId")) {
      var reply = chatTestClient.post(Json.object().put("content", "x").put(bad, "no_such_thing"));
      assertThat(reply.statusCode()).as(bad).isEqualTo(400);
    }
  }

  @Test
  void events_of_a_task_are_listed_in_its_own_words_s1_65_to_s1_68_s1_70_s1_71_s1_90()
      throws Exception {
    var sent = chatTestClient.say("count to 3");
    chatTestClient.follow(sent);
    var root = events(sent.taskId(), 100);
    var types = types(root);

    assertThat(types.getFirst()).isEqualTo("task:started");
    assertThat(types.getLast()).isEqualTo("task:completed");
    assertThat(types).contains("task:progress", "task:subagent_start", "task:subagent_stop");
    for (var event : root) {
      assertThat(event.propertyNames())
          .containsExactly("id", "taskId", "agentId", "type", "timestamp", "payload");
      assertThat(UUID.fromString(event.path("id").asString())).isNotNull();
      assertThat(event.path("taskId").asString()).isEqualTo(sent.taskId());
      assertThat(event.path("payload").path("conversationId").asString())
          .isEqualTo(sent.conversationId());
    }
    var sub =
        root.stream()
            .filter(event -> event.path("type").asString().equals("task:subagent_start"))
            .findFirst()
            .orElseThrow()
            .path("payload");
    var own = events(sub.path("taskId").asString(), 2);
    assertThat(own.getFirst().path("payload").path("agentName").asString()).isEqualTo("Code");
    assertThat(own.getFirst().path("payload").path("tools").isArray()).isTrue();
    assertThat(
            own.stream()
                .filter(event -> event.path("type").asString().equals("task:output"))
                .map(event -> event.path("payload").path("content").asString()))
        .containsExactly("1", " 2", " 3", "");
    assertThat(own.getLast().path("payload").path("result").asString()).isEqualTo("1 2 3");
    assertThat(
            chatTestClient.get("/chat/tasks/" + sent.taskId() + "/events?after=9999").statusCode())
        .isEqualTo(400);
  }

  @Test
  void tasks_of_a_conversation_are_listed_with_their_tree_s1_64_s1_90() throws Exception {
    var sent = chatTestClient.say("c", "say hi");
    chatTestClient.follow(sent);
    var first = chatTestClient.read("/chat/conversations/c/tasks?limit=1");
    var second =
        chatTestClient.read(
            "/chat/conversations/c/tasks?limit=1&cursor=" + first.path("nextCursor").asString());

    assertThat(first.path("hasMore").asBoolean()).isTrue();
    assertThat(first.path("tasks").path(0).path("id").asString()).isEqualTo(sent.taskId());
    assertThat(second.path("tasks").path(0).path("parentTaskId").asString())
        .isEqualTo(sent.taskId());
    assertThat(second.path("hasMore").asBoolean()).isFalse();
  }

  @Test
  void a_task_is_cancelled_once_and_keeps_what_it_said_s1_75_to_s1_80_s1_83_s1_25()
      throws Exception {
    var sent = chatTestClient.say("count slowly to 1000");
    try (var reader = chatTestClient.stream(sent.conversationId())) {
      ChatTestClient.until(reader, f -> f.event().equals("task_output"));
      var reply = cancel(sent);
      var frames = ChatTestClient.until(reader, f -> ChatTestClient.ends(f, sent));
      var end = frames.getLast().json();

      assertThat(reply.toString())
          .isEqualTo("{\"success\":true,\"message\":\"Task cancellation requested\"}");
      assertThat(end.path("type").asString()).isEqualTo("task_cancelled");
      assertThat(end.path("agentId").asString()).isEqualTo("system");
      assertThat(end.path("conversationId").asString()).isEqualTo(sent.conversationId());
    }
    assertThat(cancel(sent)).isEqualTo(cancel(sent));
    var result = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result");
    assertThat(result.path("status").asString()).isEqualTo("cancelled");
    var question = chatTestClient.messages(sent.conversationId()).path(0);
    assertThat(question.path("metadata").path("status").asString()).isEqualTo("cancelled");
    assertThat(ChatStreamTest.ends(chatTestClient, sent)).hasSize(1);
    assertThat(chatTestClient.send("DELETE", "/chat/tasks/unknown", "").statusCode())
        .isEqualTo(404);
  }

  @Test
  void what_was_said_until_then_stays_marked_as_a_part_s1_83() throws Exception {
    var body = Json.object().put("content", "count slowly to 1000").put("agentId", "agent-code");
    var sent = chatTestClient.sent(body);
    try (var reader = chatTestClient.stream(sent.conversationId())) {
      ChatTestClient.until(reader, f -> f.event().equals("task_output"));
      cancel(sent);
      var end = ChatTestClient.until(reader, f -> ChatTestClient.ends(f, sent)).getLast().json();
      var message = chatTestClient.messages(sent.conversationId()).path(1);

      assertThat(end.path("partial").asBoolean()).isTrue();
      assertThat(end.path("messageId")).isEqualTo(message.path("id"));
      assertThat(message.path("content").asString()).startsWith("1");
      assertThat(message.path("metadata").path("partial").asBoolean()).isTrue();
    }
    var result = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result");
    assertThat(result.path("output").asString()).startsWith("1");
  }

  @Test
  void a_task_that_is_cancelled_in_the_queue_never_starts_s1_77() throws Exception {
    var first = chatTestClient.say("c", "count slowly to 1000");
    var second = chatTestClient.say("c", "say two");
    cancel(second);
    var end = chatTestClient.follow(second).getLast().json();

    assertThat(end.path("type").asString()).isEqualTo("task_cancelled");
    assertThat(end.path("data").path("reason").asString())
        .isEqualTo("Task was cancelled before execution");
    var result = chatTestClient.read("/chat/tasks/" + second.taskId()).path("result");
    assertThat(result.path("error").asString()).isEqualTo("Task was cancelled before execution");
    cancel(first);
    chatTestClient.follow(first);
  }

  @Test
  void a_task_that_takes_too_long_ends_as_timeout_s1_51() throws Exception {
    var body = Json.object().put("content", "count slowly to 1000").put("timeoutMs", 200);
    // Another agent would hand the work on, and the task below has a timer of its own.
    var sent = chatTestClient.sent(body.put("agentId", "agent-code"));
    var error = ChatTestClient.one(chatTestClient.follow(sent), "error");

    assertThat(error.path("code").asString()).isEqualTo("timeout");
    var result = chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result");
    assertThat(result.path("status").asString()).isEqualTo("timeout");
    assertThat(ChatStreamTest.ends(chatTestClient, sent)).hasSize(1);
  }

  @Test
  void cancelling_as_a_task_completes_gives_one_end_s1_82() throws Exception {
    var all = new ArrayList<Sent>();
    for (var i = 0; i < 12; i++) {
      var sent = chatTestClient.say("c" + i, "say hi");
      if (i % 3 > 0) {
        try (var reader = chatTestClient.stream(sent.conversationId())) {
          var last = i % 3 == 1 ? "subagent_stop" : "tool_call";
          ChatTestClient.until(reader, f -> f.event().equals(last) || ChatTestClient.ends(f, sent));
        }
      }
      cancel(sent);
      all.add(sent);
    }
    for (var sent : all) {
      var end = chatTestClient.follow(sent).getLast();
      var status =
          chatTestClient.read("/chat/tasks/" + sent.taskId()).path("result").path("status");

      assertThat(status.asString())
          .isEqualTo(end.event().equals("completed") ? "success" : "cancelled");
      assertThat(ChatStreamTest.ends(chatTestClient, sent)).containsExactly(end);
    }
  }

  private JsonNode cancel(Sent sent) {
    return ChatTestClient.json(chatTestClient.send("DELETE", "/chat/tasks/" + sent.taskId(), ""));
  }

  private List<JsonNode> events(String task, int limit) {
    var events = new ArrayList<JsonNode>();
    var after = "";
    for (var more = true; more; ) {
      var page = chatTestClient.read("/chat/tasks/" + task + "/events?limit=" + limit + after);
      page.path("events").forEach(events::add);
      after = "&after=" + page.path("nextAfter").asString();
      more = page.path("hasMore").asBoolean();
    }
    return events;
  }

  private static List<String> types(List<JsonNode> events) {
    return events.stream().map(event -> event.path("type").asString()).toList();
  }
}
