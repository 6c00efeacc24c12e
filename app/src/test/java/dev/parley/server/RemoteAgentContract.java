package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.socketio.NodeTestClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

/// An agent behind a server that was made with the official SDK works as an agent here, whichever version and transport.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
abstract class RemoteAgentContract {

  private final String script;
  private final String settings;
  private final boolean tellsCalls;
  private NodeTestClient peer;
  private String url;

  /// `tellsCalls` says whether the SDK puts the metadata of parts, which tell calls from other data, on the wire.
  RemoteAgentContract(String script, String settings, boolean tellsCalls) {
    this.script = script;
    this.settings = settings;
    this.tellsCalls = tellsCalls;
  }

  @BeforeAll
  void start() throws IOException, InterruptedException {
    peer = new NodeTestClient(script);
    url = peer.next("ready").path("url").asString();
  }

  @AfterAll
  void stop() {
    peer.close();
  }

  private RemoteAgentTestBed scene(Path folder) {
    return new RemoteAgentTestBed(folder, RemoteAgentTestBed.peer(url, settings));
  }

  @Test
  void what_it_says_is_told_as_it_comes_and_its_ids_are_kept(@TempDir Path folder)
      throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.ask(context, "say one two three")).isEqualTo("one two three");
      assertThat(scene.text(context)).isEqualTo("one two three");
      assertThat(scene.blocks(context)).hasSize(1);
      var heard = peer.next(fact -> fact.path("text").asString("").equals("say one two three"));
      assertThat(scene.noted(context, "taskId")).contains(heard.path("taskId").asString());
      assertThat(scene.noted(context, "contextId")).contains(heard.path("contextId").asString());
      assertThat(scene.noted(context, "messageId")).contains(heard.path("messageId").asString());
    }
  }

  @Test
  void the_next_turn_goes_on_in_its_context_and_a_rewind_leaves_it(@TempDir Path folder)
      throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      scene.ask(context, "first");
      var second = scene.say(context, "peer", "second");
      assertThat(echo(scene.answer(context, second)).path("turn").asInt()).isEqualTo(2);
      assertThat(echo(scene.answer(context, second)).path("prompt").asString()).isEqualTo("second");
      var rewound =
          scene.site.post(
              "/api/contexts/" + context + "/rewind",
              Json.object().put("beforeTaskId", second).toString());
      assertThat(rewound.statusCode()).as(rewound.body()).isLessThan(300);
      var third = echo(scene.ask(context, "third"));
      assertThat(third.path("turn").asInt()).isEqualTo(1);
      assertThat(third.path("prompt").asString())
          .contains("first", "third")
          .doesNotContain("second");
    }
  }

  private static JsonNode echo(String answer) {
    return Json.mapper().readTree(answer);
  }

  @Test
  void files_and_data_become_artifacts_here(@TempDir Path folder) throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.ask(context, "make")).isEqualTo("made");
      var artifacts = scene.json("/api/contexts/" + context + "/artifacts").path("items");
      assertThat(artifacts).hasSize(2);
      var file = artifacts.get(0).path("type").asString().equals("file") ? 0 : 1;
      var id = artifacts.get(file).path("artifactId").asString();
      var content =
          scene.site.http.send(
              scene
                  .site
                  .request("/api/contexts/" + context + "/artifacts/" + id + "/content")
                  .build(),
              java.net.http.HttpResponse.BodyHandlers.ofByteArray());
      assertThat(content.body()).isEqualTo(Base64.getDecoder().decode("AAECAwQ="));
      assertThat(scene.entries(context).toString()).contains("{\"answer\":42}");
    }
  }

  @Test
  void what_it_thinks_and_calls_is_told(@TempDir Path folder) throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.ask(context, "think")).isEqualTo("thought");
      assertThat(scene.entries(context))
          .anyMatch(e -> e instanceof ThoughtStream t && t.content().equals("let me see"));
      var looked =
          scene.entries(context).stream()
              .anyMatch(
                  e ->
                      e instanceof ToolComplete end
                          && end.toolName().equals("look")
                          && end.success()
                          && String.valueOf(end.result()).contains("seen"));
      assertThat(looked).isEqualTo(tellsCalls);
    }
  }

  @Test
  void a_message_without_a_task_and_a_last_word_are_answers(@TempDir Path folder) throws Exception {
    try (var scene = scene(folder)) {
      assertThat(scene.ask(RemoteAgentTestBed.context(), "message")).isEqualTo("just a message");
      assertThat(scene.ask(RemoteAgentTestBed.context(), "end")).isEqualTo("all in the end");
    }
  }

  @Test
  void what_fails_there_fails_here_with_its_reason(@TempDir Path folder) throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      assertThat(scene.failure(context, scene.say(context, "peer", "fail")))
          .contains(url, "it broke");
      var other = RemoteAgentTestBed.context();
      assertThat(scene.failure(other, scene.say(other, "peer", "reject")))
          .contains("rejected", "not my work");
    }
  }

  @Test
  void what_it_asks_is_asked_here_and_answered_there(@TempDir Path folder) throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "ask");
      var question = scene.question(context, 0);
      assertThat(question.prompt()).isEqualTo("What is your name?");
      assertThat(question.inputType()).isEqualTo(InputType.CLARIFICATION);
      scene.awaitWaiting(context, task);
      assertThat(scene.json("/api/inbox").toString()).contains(question.inputId().value());
      scene.give(context, question, StringNode.valueOf("Bob"));
      assertThat(scene.answer(context, task)).isEqualTo("you said Bob");
      var heard = peer.next(fact -> fact.path("text").asString("").equals("Bob"));
      assertThat(heard.path("given").asString())
          .isEqualTo(scene.noted(context, "taskId").getFirst());
    }
  }

  @Test
  void approvals_are_asked_one_by_one_and_told_together_s3_61(@TempDir Path folder)
      throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "approve");
      var first = scene.question(context, 0);
      var second = scene.question(context, 1);
      assertThat(first.inputType()).isEqualTo(InputType.CONFIRMATION);
      assertThat(String.valueOf(first.metadata())).contains("shell", "rm x", "hash");
      scene.give(context, second, Json.object().put("approved", false).put("reason", "keep y"));
      scene.give(context, first, BooleanNode.TRUE);
      var told = echo(scene.answer(context, task));
      assertThat(told.path("type").asString()).isEqualTo("tool_approval_response");
      assertThat(told.path("approvals").toString())
          .contains(
              "{\"id\":\"a1\",\"approved\":true}", "\"id\":\"a2\",\"approved\":false", "keep y");
    }
  }

  @Test
  void an_approval_of_other_arguments_is_none(@TempDir Path folder) throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "approve");
      var changed = Json.object().put("approved", true);
      changed.putObject("arguments").put("command", "rm z");
      scene.give(context, scene.question(context, 0), changed);
      scene.give(context, scene.question(context, 1), BooleanNode.TRUE);
      var approvals = echo(scene.answer(context, task)).path("approvals");
      assertThat(approvals.get(0).path("approved").asBoolean(true)).isFalse();
      assertThat(approvals.get(0).path("rejection_reason").asString()).contains("rm z");
      assertThat(approvals.get(1).path("approved").asBoolean(false)).isTrue();
    }
  }

  @Test
  void choices_are_offered_here(@TempDir Path folder) throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "choose");
      var colour = scene.question(context, 0);
      assertThat(colour.options())
          .containsExactly(StringNode.valueOf("red"), StringNode.valueOf("blue"));
      scene.give(context, colour, StringNode.valueOf("blue"));
      scene.give(context, scene.question(context, 1), StringNode.valueOf("the sea"));
      assertThat(echo(scene.answer(context, task)).toString())
          .isEqualTo(
              "{\"type\":\"ask_user_response\",\"id\":\"q1\",\"answers\":[{\"answer\":[\"blue\"]},"
                  + "{\"answer\":[\"the sea\"]}]}");
    }
  }

  @Test
  void a_cancel_reaches_it_while_it_works_and_while_it_waits(@TempDir Path folder)
      throws Exception {
    try (var scene = scene(folder)) {
      for (var order : List.of("forever", "ask")) {
        var context = RemoteAgentTestBed.context();
        var task = scene.say(context, "peer", order);
        scene.await(context, _ -> !scene.noted(context, "taskId").isEmpty());
        if (order.equals("ask")) {
          scene.awaitWaiting(context, task);
        }
        scene.cancel(context, task);
        assertThat(((TaskStatus) scene.end(context, task)).status()).isEqualTo(TaskState.CANCELED);
        var there = scene.noted(context, "taskId").getFirst();
        peer.next(fact -> fact.path("is").asString().equals("request") && cancels(fact, there));
      }
    }
  }

  private static boolean cancels(JsonNode request, String task) {
    return List.of("CancelTask", "tasks/cancel").contains(request.path("rpc").asString(""))
        || request.path("path").asString("").endsWith("/tasks/" + task + ":cancel");
  }

  @Test
  void a_broken_stream_is_taken_up_and_nothing_is_lost_or_doubled(@TempDir Path folder)
      throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "steps 6");
      scene.awaitText(context, "1 ");
      peer.send("cut");
      peer.send("go");
      scene.awaitText(context, "1 2 ");
      peer.send("go");
      scene.awaitText(context, "1 2 3 ");
      peer.send("cut");
      peer.send("go 1");
      scene.awaitText(context, "1 2 3 4 ");
      peer.send("go");
      scene.awaitText(context, "1 2 3 4 5 ");
      peer.send("go");
      scene.awaitText(context, "1 2 3 4 5 6 ");
      peer.send("go");
      assertThat(scene.answer(context, task)).isEqualTo("1 2 3 4 5 6 ");
      assertThat(scene.text(context)).isEqualTo("1 2 3 4 5 6 ");
      assertThat(scene.blocks(context)).hasSize(1).noneMatch(block -> block.partial() != null);
    }
  }

  @Test
  void after_a_restart_here_it_goes_on_with_what_was_said_meanwhile(@TempDir Path folder)
      throws Exception {
    var context = RemoteAgentTestBed.context();
    String task;
    try (var scene = scene(folder)) {
      task = scene.say(context, "peer", "steps 3");
      scene.awaitText(context, "1 ");
    }
    peer.send("go");
    peer.next(fact -> fact.path("line").asString("").equals("go"));
    try (var scene = scene(folder)) {
      scene.awaitText(context, "1 2 ");
      peer.send("go");
      scene.awaitText(context, "1 2 3 ");
      peer.send("go");
      assertThat(scene.answer(context, task)).isEqualTo("1 2 3 ");
      assertThat(scene.text(context)).isEqualTo("1 2 3 ");
    }
  }

  @Test
  void what_it_asked_can_be_answered_after_a_restart_here(@TempDir Path folder) throws Exception {
    var context = RemoteAgentTestBed.context();
    String task;
    try (var scene = scene(folder)) {
      task = scene.say(context, "peer", "ask");
      scene.awaitWaiting(context, task);
    }
    try (var scene = scene(folder)) {
      scene.give(context, scene.question(context, 0), StringNode.valueOf("Eve"));
      assertThat(scene.answer(context, task)).isEqualTo("you said Eve");
    }
  }

  @Test
  void other_agents_hand_work_to_it(@TempDir Path folder) throws Exception {
    var yaml =
        "agents:\n- {id: peer, type: a2a, description: Peer, url: \""
            + url
            + "\""
            + settings
            + "}\n- {id: boss, tools: [\"agent:peer\"]}\n";
    try (var scene = new RemoteAgentTestBed(folder, yaml)) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "boss", "delegate say hello world to peer");
      assertThat(scene.answer(context, task)).contains("hello world");
      assertThat(scene.entries(context)).anyMatch(e -> Kind.of(e) == Kind.SUBTASK_COMPLETE);
    }
  }

  @Test
  void what_is_said_while_it_works_is_told_when_it_is_done(@TempDir Path folder) throws Exception {
    try (var scene = scene(folder)) {
      var context = RemoteAgentTestBed.context();
      var task = scene.say(context, "peer", "steps 1");
      scene.awaitText(context, "1 ");
      steer(scene, context, "say more");
      peer.send("go");
      assertThat(scene.answer(context, task)).isEqualTo("more");
      var contexts = scene.noted(context, "contextId");
      assertThat(contexts).hasSize(2).allMatch(contexts.getFirst()::equals);
    }
  }

  private static void steer(RemoteAgentTestBed scene, ContextId context, String text) {
    var body = Json.object().put("content", text).put("whenBusy", "steer").toString();
    var answer = scene.site.post("/api/contexts/" + context + "/messages", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
  }
}
