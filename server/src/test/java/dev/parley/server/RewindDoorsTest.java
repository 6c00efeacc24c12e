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

/// Whoever rewinds or forks, and through whichever door: a reload through every door shows the same history (S3.27,
/// S3.44 to S3.50, S3.54 to S3.57).
@Timeout(120)
class RewindDoorsTest {

  @TempDir Path folder;
  private Site site;
  private Kagent kagent;

  /// Where a rewind can be asked for.
  enum Door {
    NATIVE,
    SESSIONS,
    A2A
  }

  @BeforeEach
  void open() {
    site = Site.durable(folder, Site.Wish.USUAL);
    kagent = new Kagent(site);
    kagent.post("/api/sessions", Json.object().put("id", "c").put("agent_ref", "agent-code"));
  }

  @AfterEach
  void close() {
    site.close();
  }

  private static JsonNode json(HttpResponse<String> reply) {
    assertThat(reply.statusCode()).as(reply.body()).isBetween(200, 299);
    return Json.mapper().readTree(reply.body());
  }

  private static List<String> texts(JsonNode list, Function<JsonNode, JsonNode> text) {
    return list.valueStream().map(text).map(node -> node.asString("")).toList();
  }

  /// What each door shows of a context.
  private Map<String, List<String>> histories(String context) {
    var all = new LinkedHashMap<String, List<String>>();
    var messages = json(site.get("/api/contexts/" + context + "/messages")).path("items");
    all.put("messages", texts(messages, one -> one.path("content")));
    var snapshot = json(site.get("/api/contexts/" + context + "/snapshot")).path("messages");
    all.put("snapshot", texts(snapshot, one -> one.path("content")));
    var chat = json(site.get("/chat/conversations/" + context + "/messages")).path("messages");
    all.put("chat", texts(chat, one -> one.path("content")));
    all.put("session tasks", kagent.conversation(context));
    var events = Kagent.data(200, kagent.get("/api/sessions/" + context + "?order=asc"));
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
    var reply = site.get("/ag-ui/agent-code/threads/" + context + "/events");
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

  /// The tasks of a context as doors that show tasks have them: what each was asked, oldest first.
  private Map<String, List<String>> prompts(String context) {
    var all = new LinkedHashMap<String, List<String>>();
    var agents = json(site.get("/api/agents"));
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
            kagent.rpc(
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

  /// Rewinds through a door. True if it was done.
  private boolean rewind(Door door, String context, String before) {
    return switch (door) {
      case NATIVE ->
          site.post("/api/contexts/" + context + "/rewind", "{\"beforeTaskId\":\"" + before + "\"}")
                  .statusCode()
              == 200;
      case SESSIONS ->
          kagent
                  .post(
                      "/api/sessions/" + context + "/rewind",
                      Json.object().put("rewind_before_invocation_id", before))
                  .statusCode()
              == 200;
      case A2A -> {
        var frames = kagent.rewind(context, before, "", false);
        assertThat(frames).hasSize(1); // S3.12
        var task = frames.getFirst();
        if (!task.path("kind").asString().equals("task")) {
          assertThat(task.path("status").path("state").asString()).isEqualTo("failed"); // S3.49
          yield false;
        }
        assertThat(task.path("id").asString()).isEqualTo(context); // S3.44
        assertThat(task.path("metadata").path("kagent_rewound").asBoolean()).isTrue(); // S3.50
        // What is streamed is what a reload shows (S3.45).
        assertThat(Kagent.words(Json.mapper().createArrayNode().add(task)))
            .isEqualTo(kagent.conversation(context));
        yield true;
      }
    };
  }

  private String fork(Door door, String context, String fork) {
    var body = Json.object();
    var made =
        door == Door.NATIVE
            ? site.post(
                "/api/contexts/" + context + "/fork", body.put("contextId", fork).toString())
            : kagent.post("/api/sessions/" + context + "/fork", body.put("id", fork));
    assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
    return fork;
  }

  @ParameterizedTest
  @EnumSource
  void no_abca(Door door) { // S3.27
    kagent.say("c", "say A");
    var second = kagent.say("c", "say B");
    kagent.say("c", "say C");
    shows("c", "say A", "A", "say B", "B", "say C", "C");

    assertThat(rewind(door, "c", second)).isTrue();

    shows("c", "say A", "A");
    showsTasks("c", "say A");
    kagent.say("c", "say D");
    shows("c", "say A", "A", "say D", "D");
    showsTasks("c", "say A", "say D");
    assertThat(rewind(door, "c", second)).isFalse();
    assertThat(rewind(door, "c", "unknown")).isFalse();
    shows("c", "say A", "A", "say D", "D");
  }

  @ParameterizedTest
  @EnumSource
  void to_empty_and_on_from_there(Door door) { // S3.50
    var first = kagent.say("c", "say A");
    kagent.say("c", "say B");

    assertThat(rewind(door, "c", first)).isTrue();

    shows("c");
    showsTasks("c");
    kagent.say("c", "say again");
    shows("c", "say again", "again");
  }

  @ParameterizedTest
  @EnumSource
  void a_rewind_of_a_rewind(Door door) { // S3.55
    kagent.say("c", "say A");
    var second = kagent.say("c", "say B");
    var head = site.log.head(new ContextId("c")).seq();
    rewind(door, "c", second);
    var third = kagent.say("c", "say C");

    assertThat(rewind(door, "c", third)).isTrue();
    shows("c", "say A", "A");

    site.post("/api/contexts/c/rewind", "{\"toSeq\":" + head + "}");
    shows("c", "say A", "A", "say B", "B");
    assertThat(rewind(door, "c", second)).isTrue();
    shows("c", "say A", "A");
    showsTasks("c", "say A");
  }

  @ParameterizedTest
  @EnumSource
  void while_a_task_works(Door door) { // S3.55
    kagent.say("c", "say A");
    var running = kagent.said("c", "count slowly to 500");

    assertThat(rewind(door, "c", running)).isFalse();

    assertThat(site.get("/api/contexts/c/tasks/" + running).body()).contains("count slowly");
    switch (door) {
      case NATIVE -> {
        site.post("/api/contexts/c/tasks/" + running + "/cancel", "{}");
        kagent.ended("c", running);
        assertThat(rewind(door, "c", running)).isTrue();
      }
      case SESSIONS -> {
        var body = Json.object().put("rewind_before_invocation_id", running);
        assertThat(Kagent.error(409, kagent.post("/api/sessions/c/rewind", body)))
            .contains("\"cancel\": true");
        Kagent.data(200, kagent.post("/api/sessions/c/rewind", body.put("cancel", true)));
      }
      case A2A ->
          assertThat(kagent.rewind("c", running, "", true))
              .singleElement()
              .matches(task -> task.path("kind").asString().equals("task"));
    }
    shows("c", "say A", "A");
    showsTasks("c", "say A");
  }

  @Test
  void saying_something_anew_through_the_chat_door_is_a_rewind_too() { // S1.88, S3.48
    kagent.say("c", "say A");
    var second = kagent.say("c", "say B");
    kagent.say("c", "say C");
    var message = json(site.get("/api/contexts/c/tasks/" + second)).path("messageId").asString();

    var again =
        new Chat(site)
            .send(
                "PATCH",
                "/chat/conversations/c/messages/" + message,
                "{\"content\":\"say D\",\"rerun\":true}");

    kagent.ended("c", json(again).path("taskId").asString());
    shows("c", "say A", "A", "say D", "D");
    showsTasks("c", "say A", "say D");
  }

  @ParameterizedTest
  @EnumSource
  void a_fork_of_a_fork(Door door) { // S3.57
    kagent.say("c", "say A");
    var second = kagent.say("c", "say B");

    var fork = fork(door, "c", "f1");
    assertThat(rewind(door, fork, second)).isTrue();
    kagent.say(fork, "say F");
    var again = fork(door, fork, "f2");
    kagent.say(again, "say G");

    shows("c", "say A", "A", "say B", "B");
    shows(fork, "say A", "A", "say F", "F");
    shows(again, "say A", "A", "say F", "F", "say G", "G");
    var kept = kagent.tasks(again).path(0);
    assertThat(kept.path("id").asString()).isEqualTo(again);
    assertThat(kept.path("contextId").asString()).isEqualTo(again);
    assertThat(kagent.tasks(again)).hasSize(2);
    kagent.say("c", "say H");
    shows(again, "say A", "A", "say F", "F", "say G", "G");
  }

  @ParameterizedTest
  @EnumSource
  void a_command_line_agent_has_forgotten_what_was_taken_back(Door door) throws Exception { // S3.58
    site.close();
    var script = Path.of(RewindDoorsTest.class.getResource("/cli/claude.sh").toURI());
    var home = Files.createDirectories(folder.resolve("home"));
    site =
        Site.configured(
            folder,
            """
            agents:
              - {id: agent-code, description: "Writes code"}
              - {id: coder, type: cli, cli: claude, command: [/bin/sh, %s], env: {HOME: %s}}
            """
                .formatted(script, home));
    kagent = new Kagent(site);
    kagent.post("/api/sessions", Json.object().put("id", "c"));
    kagent.ask("c", "coder", "say alpha");
    var taken = kagent.said("c", "coder", "say bravo");
    kagent.ended("c", taken);
    assertThat(kagent.ask("c", "coder", "recall it")).contains("alpha", "bravo");

    assertThat(rewind(door, "c", taken)).isTrue();

    shows("c", "say alpha", "alpha");
    assertThat(kagent.ask("c", "coder", "recall it")).contains("alpha").doesNotContain("bravo");
    assertThat(kagent.ask("c", "coder", "recall more")).contains("alpha").doesNotContain("bravo");
  }

  @ParameterizedTest
  @EnumSource
  void and_it_stays_so_when_the_server_starts_again(Door door) { // S3.46
    kagent.say("c", "say A");
    var second = kagent.say("c", "say B");
    rewind(door, "c", second);
    fork(door, "c", "f");

    site.close();
    site = Site.durable(folder, Site.Wish.USUAL);
    kagent = new Kagent(site);

    shows("c", "say A", "A");
    shows("f", "say A", "A");
  }
}
