package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/// Whoever rewinds or forks, and through whichever API: a reload through every API shows the same history (SESSION-27,
/// SESSION-44 to SESSION-50, SESSION-54 to SESSION-57).
@Timeout(120)
class RewindAcrossApisTest {

  @TempDir Path folder;
  private TestServer testServer;
  private KagentTestClient kagentTestClient;

  /// Where a rewind can be asked for.
  enum RewindApi {
    NATIVE,
    SESSIONS,
    A2A
  }

  @BeforeEach
  void open() {
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL);
    kagentTestClient = new KagentTestClient(testServer);
    kagentTestClient.post(
        "/api/sessions", Json.object().put("id", "c").put("agent_ref", "agent-code"));
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  private static JsonNode json(HttpResponse<String> reply) {
    assertThat(reply.statusCode()).as(reply.body()).isBetween(200, 299);
    return Json.mapper().readTree(reply.body());
  }

  private static List<String> texts(JsonNode list, Function<JsonNode, JsonNode> text) {
    return list.valueStream().map(text).map(node -> node.asString("")).toList();
  }

  /// What each API shows of a context.
  private Map<String, List<String>> histories(String context) {
    var all = new LinkedHashMap<String, List<String>>();
    var messages = json(testServer.get("/api/contexts/" + context + "/messages")).path("items");
    all.put("messages", texts(messages, one -> one.path("content")));
    var snapshot = json(testServer.get("/api/contexts/" + context + "/snapshot")).path("messages");
    all.put("snapshot", texts(snapshot, one -> one.path("content")));
    var chat =
        json(testServer.get("/chat/conversations/" + context + "/messages")).path("messages");
    all.put("chat", texts(chat, one -> one.path("content")));
    all.put("session tasks", kagentTestClient.conversation(context));
    var events =
        KagentTestClient.data(200, kagentTestClient.get("/api/sessions/" + context + "?order=asc"));
    var said = new ArrayList<String>();
    for (var event : events.path("events")) {
      var data = Json.mapper().readTree(event.path("data").asString());
      if (data.has("content")) {
        said.add(data.path("content").path("parts").path(0).path("text").asString());
      }
    }
    all.put("session events", said);
    all.put("AG-UI", thread(context));
    return all;
  }

  /// What an AG-UI front end is told that comes to a thread.
  private List<String> thread(String context) {
    var reply = testServer.get("/ag-ui/agent-code/threads/" + context + "/events");
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    var said = new ArrayList<String>();
    for (var line : reply.body().split("\n", -1)) {
      if (line.startsWith("data:") && line.contains("MESSAGES_SNAPSHOT")) {
        said.clear();
        Json.mapper()
            .readTree(line.substring("data:".length()))
            .path("messages")
            .forEach(message -> said.add(message.path("content").asString("")));
      }
    }
    return said;
  }

  /// The tasks of a context as APIs that show tasks have them: what each was asked, oldest first.
  private Map<String, List<String>> prompts(String context) {
    var all = new LinkedHashMap<String, List<String>>();
    var agents = json(testServer.get("/api/agents"));
    all.put(
        "agents",
        agents
            .valueStream()
            .filter(one -> one.path("session").path("id").asString().equals(context))
            .map(one -> one.path("prompt").asString())
            .toList()
            .reversed());
    var listed =
        json(
            kagentTestClient.rpc(
                "ListTasks",
                Json.object().put("contextId", context).put("historyLength", 100),
                "A2A-Version",
                "1.0"));
    var asked = new ArrayList<String>();
    for (var task : listed.path("result").path("tasks")) {
      asked.addFirst(task.path("history").path(0).path("parts").path(0).path("text").asString());
    }
    all.put("ListTasks", asked);
    return all;
  }

  private void shows(String context, String... texts) {
    assertThat(histories(context))
        .allSatisfy((_, shown) -> assertThat(shown).containsExactly(texts));
  }

  private void showsTasks(String context, String... prompts) {
    assertThat(prompts(context))
        .allSatisfy((_, shown) -> assertThat(shown).containsExactly(prompts));
  }

  /// Rewinds through a API. True if it was done.
  private boolean rewind(RewindApi api, String context, String before) {
    return switch (api) {
      case NATIVE ->
          testServer
                  .post(
                      "/api/contexts/" + context + "/rewind",
                      "{\"beforeTaskId\":\"" + before + "\"}")
                  .statusCode()
              == 200;
      case SESSIONS ->
          kagentTestClient
                  .post(
                      "/api/sessions/" + context + "/rewind",
                      Json.object().put("rewind_before_invocation_id", before))
                  .statusCode()
              == 200;
      case A2A -> {
        var frames = kagentTestClient.rewind(context, before, "", false);
        assertThat(frames).hasSize(1); // SESSION-12
        var task = frames.getFirst();
        if (!task.path("kind").asString().equals("task")) {
          assertThat(task.path("status").path("state").asString())
              .isEqualTo("failed"); // SESSION-49
          yield false;
        }
        assertThat(task.path("id").asString()).isEqualTo(context); // SESSION-44
        assertThat(task.path("metadata").path("kagent_rewound").asBoolean()).isTrue(); // SESSION-50
        // What is streamed is what a reload shows (SESSION-45).
        assertThat(KagentTestClient.words(Json.mapper().createArrayNode().add(task)))
            .isEqualTo(kagentTestClient.conversation(context));
        yield true;
      }
    };
  }

  private String fork(RewindApi api, String context, String fork) {
    var body = Json.object();
    var made =
        api == RewindApi.NATIVE
            ? testServer.post(
                "/api/contexts/" + context + "/fork", body.put("contextId", fork).toString())
            : kagentTestClient.post("/api/sessions/" + context + "/fork", body.put("id", fork));
    assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
    return fork;
  }

  @ParameterizedTest
  @EnumSource
  void no_abca(RewindApi api) { // SESSION-27
    kagentTestClient.say("c", "say A");
    var second = kagentTestClient.say("c", "say B");
    kagentTestClient.say("c", "say C");
    shows("c", "say A", "A", "say B", "B", "say C", "C");

    assertThat(rewind(api, "c", second)).isTrue();

    shows("c", "say A", "A");
    showsTasks("c", "say A");
    kagentTestClient.say("c", "say D");
    shows("c", "say A", "A", "say D", "D");
    showsTasks("c", "say A", "say D");
    assertThat(rewind(api, "c", second)).isFalse();
    assertThat(rewind(api, "c", "unknown")).isFalse();
    shows("c", "say A", "A", "say D", "D");
  }

  @ParameterizedTest
  @EnumSource
  void to_empty_and_on_from_there(RewindApi api) { // SESSION-50
    var first = kagentTestClient.say("c", "say A");
    kagentTestClient.say("c", "say B");

    assertThat(rewind(api, "c", first)).isTrue();

    shows("c");
    showsTasks("c");
    kagentTestClient.say("c", "say again");
    shows("c", "say again", "again");
  }

  @ParameterizedTest
  @EnumSource
  void a_rewind_of_a_rewind(RewindApi api) { // SESSION-55
    kagentTestClient.say("c", "say A");
    var second = kagentTestClient.say("c", "say B");
    var head = testServer.log.head(new ContextId("c")).seq();
    rewind(api, "c", second);
    var third = kagentTestClient.say("c", "say C");

    assertThat(rewind(api, "c", third)).isTrue();
    shows("c", "say A", "A");

    testServer.post("/api/contexts/c/rewind", "{\"toSeq\":" + head + "}");
    shows("c", "say A", "A", "say B", "B");
    assertThat(rewind(api, "c", second)).isTrue();
    shows("c", "say A", "A");
    showsTasks("c", "say A");
  }

  @ParameterizedTest
  @EnumSource
  void while_a_task_works(RewindApi api) { // SESSION-55
    kagentTestClient.say("c", "say A");
    var running = kagentTestClient.said("c", "count slowly to 500");

    assertThat(rewind(api, "c", running)).isFalse();

    assertThat(testServer.get("/api/contexts/c/tasks/" + running).body()).contains("count slowly");
    switch (api) {
      case NATIVE -> {
        testServer.post("/api/contexts/c/tasks/" + running + "/cancel", "{}");
        kagentTestClient.ended("c", running);
        assertThat(rewind(api, "c", running)).isTrue();
      }
      case SESSIONS -> {
        var body = Json.object().put("rewind_before_invocation_id", running);
        assertThat(
                KagentTestClient.error(409, kagentTestClient.post("/api/sessions/c/rewind", body)))
            .contains("\"cancel\": true");
        KagentTestClient.data(
            200, kagentTestClient.post("/api/sessions/c/rewind", body.put("cancel", true)));
      }
      case A2A ->
          assertThat(kagentTestClient.rewind("c", running, "", true))
              .singleElement()
              .matches(task -> task.path("kind").asString().equals("task"));
    }
    shows("c", "say A", "A");
    showsTasks("c", "say A");
  }

  @Test
  void saying_something_anew_through_the_chat_api_is_a_rewind_too() { // CHAT-88, SESSION-48
    kagentTestClient.say("c", "say A");
    var second = kagentTestClient.say("c", "say B");
    kagentTestClient.say("c", "say C");
    var message =
        json(testServer.get("/api/contexts/c/tasks/" + second)).path("messageId").asString();

    var again =
        new ChatTestClient(testServer)
            .send(
                "PATCH",
                "/chat/conversations/c/messages/" + message,
                "{\"content\":\"say D\",\"rerun\":true}");

    kagentTestClient.ended("c", json(again).path("taskId").asString());
    shows("c", "say A", "A", "say D", "D");
    showsTasks("c", "say A", "say D");
  }

  @ParameterizedTest
  @EnumSource
  void a_fork_of_a_fork(RewindApi api) { // SESSION-57
    kagentTestClient.say("c", "say A");
    var second = kagentTestClient.say("c", "say B");

    var fork = fork(api, "c", "f1");
    assertThat(rewind(api, fork, second)).isTrue();
    kagentTestClient.say(fork, "say F");
    var again = fork(api, fork, "f2");
    kagentTestClient.say(again, "say G");

    shows("c", "say A", "A", "say B", "B");
    shows(fork, "say A", "A", "say F", "F");
    shows(again, "say A", "A", "say F", "F", "say G", "G");
    var kept = kagentTestClient.tasks(again).path(0);
    assertThat(kept.path("id").asString()).isEqualTo(again);
    assertThat(kept.path("contextId").asString()).isEqualTo(again);
    assertThat(kagentTestClient.tasks(again)).hasSize(2);
    kagentTestClient.say("c", "say H");
    shows(again, "say A", "A", "say F", "F", "say G", "G");
  }

  @ParameterizedTest
  @EnumSource
  void a_command_line_agent_has_forgotten_what_was_taken_back(RewindApi api)
      throws Exception { // SESSION-58
    testServer.close();
    var script = Path.of(RewindAcrossApisTest.class.getResource("/cli/claude.sh").toURI());
    var home = Files.createDirectories(folder.resolve("home"));
    testServer =
        TestServer.configured(
            folder,
            """
            agents:
              - {id: agent-code, description: "Writes code"}
              - {id: coder, type: cli, cli: claude, command: [/bin/sh, %s], env: {HOME: %s}}
            """
                .formatted(script, home));
    kagentTestClient = new KagentTestClient(testServer);
    kagentTestClient.post("/api/sessions", Json.object().put("id", "c"));
    kagentTestClient.ask("c", "coder", "say alpha");
    var taken = kagentTestClient.said("c", "coder", "say bravo");
    kagentTestClient.ended("c", taken);
    assertThat(kagentTestClient.ask("c", "coder", "recall it")).contains("alpha", "bravo");

    assertThat(rewind(api, "c", taken)).isTrue();

    shows("c", "say alpha", "alpha");
    assertThat(kagentTestClient.ask("c", "coder", "recall it"))
        .contains("alpha")
        .doesNotContain("bravo");
    assertThat(kagentTestClient.ask("c", "coder", "recall more"))
        .contains("alpha")
        .doesNotContain("bravo");
  }

  @ParameterizedTest
  @EnumSource
  void and_it_stays_so_when_the_server_starts_again(RewindApi api) { // SESSION-46
    kagentTestClient.say("c", "say A");
    var second = kagentTestClient.say("c", "say B");
    rewind(api, "c", second);
    fork(api, "c", "f");

    testServer.close();
    testServer = TestServer.durable(folder, TestServer.Wish.USUAL);
    kagentTestClient = new KagentTestClient(testServer);

    shows("c", "say A", "A");
    shows("f", "say A", "A");
  }
}
