package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import dev.parley.server.ChatTestClient.Sent;
import dev.parley.server.EventReader.Frame;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/// The stream of chat events: CHAT-C, CHAT-56, CORE-6, CORE-11.
class ChatStreamTest extends ChatFixture {

  @Test
  void frames_are_server_sent_events_named_by_type_s1_26() throws Exception {
    var sent = chatTestClient.say("say hello");
    try (var reader = chatTestClient.stream(sent.conversationId())) {
      var frames = ChatTestClient.until(reader, ChatTestClient::ends);

      assertThat(reader.head.getFirst()).contains("200");
      assertThat(reader.head)
          .anyMatch(line -> line.equalsIgnoreCase("content-type: text/event-stream"));
      for (var frame : frames) {
        assertThat(frame.json().path("type").asString()).isEqualTo(frame.event());
        assertThat(frame.json().path("conversationId").asString()).isEqualTo(sent.conversationId());
        assertThat(frame.json().path("timestamp").asString()).endsWith("Z").hasSize(24);
        assertThat(frame.id()).isNotNull();
      }
      assertThat(frames).extracting(Frame::id).doesNotHaveDuplicates();
    }
  }

  @Test
  void a_message_begins_works_and_ends_s1_30_to_s1_32_s1_35_s1_36_s1_56() throws Exception {
    var sent = chatTestClient.say("count to 3");
    var frames = chatTestClient.follow(sent);
    var started = frames.getFirst().json();
    var task = frames.get(1).json();
    var completed = ChatTestClient.one(frames, "completed");

    assertThat(started.path("type").asString()).isEqualTo("started");
    assertThat(started.path("messageId").asString()).isEqualTo(sent.messageId());
    assertThat(task.path("type").asString()).isEqualTo("task_started");
    assertThat(task.path("taskId").asString()).isEqualTo(sent.taskId());
    assertThat(task.path("agentName").asString()).isEqualTo("Supervisor");
    assertThat(task.path("data").path("prompt").asString()).isEqualTo("count to 3");
    assertThat(task.path("data").path("tools").isArray()).isTrue();
    var routing =
        ChatTestClient.all(frames, "task_progress").stream()
            .filter(event -> event.path("stage").asString().equals("routing"))
            .findFirst()
            .orElseThrow();
    assertThat(routing.path("content").asString()).isNotBlank();
    var decision = routing.path("metadata").path("routing");
    assertThat(decision.propertyNames()).contains("strategy", "agents", "reasoning", "confidence");
    assertThat(said(frames)).isEqualTo("1 2 3");
    assertThat(ChatTestClient.all(frames, "task_output"))
        .allMatch(output -> output.path("partial").isBoolean());
    assertThat(completed.path("content").asString()).isEqualTo("1 2 3");
    assertThat(completed.path("messageId").asString()).isNotEqualTo(sent.messageId());
    assertThat(frames.getLast().event()).isEqualTo("completed");
  }

  @Test
  void tools_are_called_and_their_results_pair_up_s1_33_s1_34() throws Exception {
    Files.writeString(folder.resolve("note.txt"), "forty-two");
    var frames = chatTestClient.follow(chatTestClient.say("read note.txt"));
    var call = reads(frames, "tool_call");
    var result = reads(frames, "tool_result");

    assertThat(call.path("data").path("input").path("path").asString()).isEqualTo("note.txt");
    assertThat(result.path("data").path("success").asBoolean()).isTrue();
    assertThat(result.path("data").path("output").toString()).contains("forty-two");
    assertThat(result.path("data").path("toolUseId").asString())
        .isNotEmpty()
        .isEqualTo(call.path("data").path("toolUseId").asString());

    var failed =
        reads(chatTestClient.follow(chatTestClient.say("read missing.txt")), "tool_result");
    assertThat(failed.path("data").path("success").asBoolean(true)).isFalse();
    assertThat(failed.path("data").path("output").asString()).contains("missing.txt");
  }

  @Test
  void a_completed_message_is_in_the_history_at_once_s1_39() throws Exception {
    for (var i = 0; i < 10; i++) {
      var completed =
          ChatTestClient.one(
              chatTestClient.follow(chatTestClient.say("c", "say " + i)), "completed");
      var last = chatTestClient.messages("c").path(2 * i + 1);

      assertThat(last.path("id")).isEqualTo(completed.path("messageId"));
      assertThat(last.path("content")).isEqualTo(completed.path("content"));
    }
  }

  @Test
  void a_failure_is_an_error_and_has_an_alias_s1_37_s1_40_s1_41() throws Exception {
    var sent = chatTestClient.say("fail");
    var frames = chatTestClient.follow(sent);
    var error = ChatTestClient.one(frames, "error");
    var alias =
        ChatTestClient.all(frames, "task_failed").stream()
            .filter(event -> !event.has("parentTaskId"))
            .toList();

    assertThat(error.path("error").asString()).isNotBlank();
    assertThat(error.path("code").asString()).isNotBlank();
    assertThat(error.path("recoverable").isBoolean()).isTrue();
    assertThat(alias).hasSize(1);
    assertThat(alias.getFirst().path("eventId")).isEqualTo(error.path("eventId"));
    assertThat(alias.getFirst().path("error")).isEqualTo(error.path("error"));
    assertThat(ChatTestClient.types(frames)).doesNotContain("completed");
  }

  @Test
  void sub_agents_are_told_apart_and_do_not_speak_for_the_task_s1_38_x_11() throws Exception {
    var sent = chatTestClient.say("delegate say hello to agent-code and agent-data");
    var frames = chatTestClient.follow(sent);
    var starts = ChatTestClient.all(frames, "subagent_start");
    var stops = ChatTestClient.all(frames, "subagent_stop");

    assertThat(agents(starts))
        .isEqualTo(agents(stops))
        .isEqualTo(Set.of("agent-code", "agent-data"));
    assertThat(starts)
        .allMatch(start -> start.path("parentTaskId").asString().equals(sent.taskId()));
    assertThat(stops)
        .allMatch(stop -> stop.path("data").path("status").asString().equals("success"));
    assertThat(ChatTestClient.all(frames, "subagent_output"))
        .isNotEmpty()
        .allMatch(output -> output.path("parentTaskId").asString().equals(sent.taskId()));
    var completed = ChatTestClient.one(frames, "completed").path("content").asString();
    assertThat(said(frames)).isEqualTo(completed);
    // Every event of a task stands between its start and its end.
    for (var start : starts) {
      var task = start.path("taskId").asString();
      var own =
          frames.stream().filter(f -> f.json().path("taskId").asString().equals(task)).toList();
      assertThat(ChatTestClient.types(own).getFirst()).isEqualTo("subagent_start");
      assertThat(ChatTestClient.types(own).get(1)).isEqualTo("task_started");
      assertThat(ChatTestClient.types(own).get(own.size() - 2)).isEqualTo("task_completed");
      assertThat(ChatTestClient.types(own).getLast()).isEqualTo("subagent_stop");
    }
  }

  @Test
  void a_question_says_how_to_answer_it() throws Exception {
    var sent = chatTestClient.say("ask me my name");
    try (var reader = chatTestClient.stream(sent.conversationId())) {
      var asked =
          ChatTestClient.until(reader, f -> stage(f).equals("input-required")).getLast().json();
      var metadata = asked.path("metadata");

      assertThat(asked.path("content").asString()).contains("name");
      assertThat(metadata.path("inputId").asString()).isNotEmpty();
      assertThat(
              chatTestClient
                  .read("/chat/tasks/" + asked.path("taskId").asString())
                  .path("task")
                  .path("status")
                  .asString())
          .isIn("running", "waiting");
      var answer = metadata.path("answer").asString();
      assertThat(chatTestClient.send("POST", answer, "{\"value\":\"Ada\"}").statusCode())
          .isEqualTo(202);
      var rest = ChatTestClient.until(reader, ChatTestClient::ends);
      assertThat(rest).anyMatch(f -> stage(f).equals("input-received"));
      assertThat(rest.getLast().json().path("content").asString()).contains("Ada");
    }
  }

  @Test
  void conversations_side_by_side_do_not_mix_s1_27() throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var talks = new ArrayList<Callable<List<Frame>>>();
      for (var i = 0; i < 6; i++) {
        var name = "talk-" + i;
        talks.add(() -> chatTestClient.follow(chatTestClient.say(name, "count to 40")));
      }
      var i = 0;
      for (var talk : threads.invokeAll(talks)) {
        var name = "talk-" + i++;
        assertThat(talk.get())
            .isNotEmpty()
            .allMatch(frame -> frame.json().path("conversationId").asString().equals(name));
      }
    }
  }

  @Test
  void every_subscriber_gets_every_event_before_or_after_the_post_s1_29_s1_42_s1_45()
      throws Exception {
    try (var one = chatTestClient.stream("c");
        var two = chatTestClient.stream("c")) {
      // An unknown conversation is waited for: a heartbeat shows that the reader is there.
      one.next();
      two.next();
      var sent = chatTestClient.say("c", "count to 20");
      var first = ChatTestClient.until(one, f -> ChatTestClient.ends(f, sent));
      assertThat(ChatTestClient.until(two, f -> ChatTestClient.ends(f, sent))).isEqualTo(first);
      assertThat(chatTestClient.follow(sent)).isEqualTo(first);
      assertThat(first.getFirst().event()).isEqualTo("started");
    }
  }

  @Test
  void a_new_subscriber_begins_at_the_newest_message_s1_42() throws Exception {
    chatTestClient.follow(chatTestClient.say("c", "say one"));
    var second = chatTestClient.say("c", "say two");
    var frames = chatTestClient.follow(second);

    assertThat(frames.getFirst().json().path("messageId").asString()).isEqualTo(second.messageId());
    assertThat(chatTestClient.follow(second)).isEqualTo(frames);
  }

  @Test
  void a_new_subscriber_begins_at_the_first_message_that_is_not_done() throws Exception {
    var first = chatTestClient.say("c", "count slowly to 1000");
    var second = chatTestClient.say("c", "say two");
    try (var reader = chatTestClient.stream("c")) {
      var begins = ChatTestClient.until(reader, f -> f.event().equals("started")).getLast().json();
      assertThat(begins.path("messageId").asString()).isEqualTo(first.messageId());
      var queued = ChatTestClient.until(reader, f -> stage(f).equals("queued")).getLast().json();
      assertThat(queued.path("taskId").asString()).isEqualTo(second.taskId());
      chatTestClient.send("DELETE", "/chat/tasks/" + first.taskId(), "");
      ChatTestClient.until(reader, f -> ChatTestClient.ends(f, second));
    }
  }

  @Test
  void idle_streams_have_heartbeats_s1_44() throws Exception {
    var sent = chatTestClient.say("say hi");
    try (var reader = chatTestClient.stream(sent.conversationId());
        var waiting = chatTestClient.stream("nobody-is-there");
        var all = chatTestClient.stream("")) {
      var last = ChatTestClient.until(reader, ChatTestClient::ends).getLast();
      // Heartbeats carry the cursor, and are no events.
      assertThat(reader.next()).isEqualTo(new Frame(last.id(), null, null));
      waiting.next();
      assertThat(waiting.next()).isEqualTo(new Frame(null, null, null));
      // It may have begun before the task ended.
      var beat = all.next();
      while (beat.event() != null) {
        beat = all.next();
      }
      assertThat(beat.id()).isNotNull();
    }
  }

  @Test
  void leaving_does_not_cancel_s1_44_x_6() throws Exception {
    var sent = chatTestClient.say("count slowly to 10");
    try (var reader = chatTestClient.stream(sent.conversationId())) {
      ChatTestClient.until(reader, f -> f.event().equals("task_output"));
    }
    assertThat(
            ChatTestClient.one(chatTestClient.follow(sent), "completed").path("content").asString())
        .endsWith("10");
  }

  @Test
  void a_message_to_a_running_task_has_no_end_of_its_own_s1_40() throws Exception {
    var sent = chatTestClient.say("c", "count slowly to 1000");
    try (var reader = chatTestClient.stream("c")) {
      ChatTestClient.until(reader, f -> f.event().equals("task_output"));
      var body = Json.object().put("content", "say more").put("conversationId", "c");
      var steered = chatTestClient.sent(body.put("whenBusy", "steer"));
      var told = ChatTestClient.until(reader, f -> stage(f).equals("steer")).getLast().json();

      assertThat(steered.taskId()).isEqualTo(sent.taskId());
      assertThat(told.path("messageId").asString()).isEqualTo(steered.messageId());
      chatTestClient.send("DELETE", "/chat/tasks/" + sent.taskId(), "");
      ChatTestClient.until(reader, f -> ChatTestClient.ends(f, sent));
    }
    assertThat(ends(chatTestClient, sent)).hasSize(1);
  }

  /// The ends of a message in its whole conversation.
  static List<Frame> ends(ChatTestClient chatTestClient, Sent sent) throws Exception {
    try (var reader = chatTestClient.stream(sent.conversationId(), "Last-Event-ID", "0")) {
      var frames = new ArrayList<Frame>();
      var heartbeats = 0;
      while (heartbeats < 3) {
        var frame = reader.next();
        if (frame.event() == null) {
          heartbeats++;
        } else if (ChatTestClient.ends(frame, sent)) {
          frames.add(frame);
        }
      }
      return frames;
    }
  }

  private static String said(List<Frame> frames) {
    return ChatTestClient.all(frames, "task_output").stream()
        .map(output -> output.path("content").asString())
        .collect(Collectors.joining());
  }

  private static JsonNode reads(List<Frame> frames, String type) {
    return ChatTestClient.all(frames, type).stream()
        .filter(event -> event.path("data").path("tool").asString().equals("read_file"))
        .findFirst()
        .orElseThrow();
  }

  private static Set<String> agents(List<JsonNode> events) {
    return events.stream().map(e -> e.path("agentId").asString()).collect(Collectors.toSet());
  }

  private static String stage(Frame frame) {
    return frame.json().path("stage").asString("");
  }
}
