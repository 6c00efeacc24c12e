package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskId;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// People talk, edit, delete, rewind, say things anew and fork, in any order: text that was deleted or replaced is shown
/// nowhere and no model is told it, and everything else is shown as a simple model of the conversation says.
@Timeout(120)
class CorrectionPropertyTest {

  private static final int STEPS = 20;

  @TempDir Path folder;
  private final AtomicInteger words = new AtomicInteger();

  /// A message; all places of the past that have it share it, so that a correction holds in all of them.
  private static final class Said {
    final String id;
    final String role;
    final String task;
    String text;
    boolean deleted;

    Said(String id, String role, String task, String text) {
      this.id = id;
      this.role = role;
      this.task = task;
      this.text = text;
    }

    Said copy() {
      var copy = new Said(id, role, task, text);
      copy.deleted = deleted;
      return copy;
    }
  }

  /// A conversation: what counts now, what counted at each place where no task was at work, and texts that must not be
  /// seen again.
  private static final class Talk {
    final String context;
    List<Said> now = new ArrayList<>();
    final TreeMap<Long, List<Said>> places = new TreeMap<>();
    final Set<String> gone = new HashSet<>();

    Talk(String context) {
      this.context = context;
    }

    Talk fork(String id, long at) {
      var fork = new Talk(id);
      var copies = new HashMap<Said, Said>();
      places
          .headMap(at, true)
          .forEach(
              (seq, list) ->
                  fork.places.put(
                      seq,
                      list.stream().map(one -> copies.computeIfAbsent(one, Said::copy)).toList()));
      fork.now = new ArrayList<>(fork.places.lastEntry().getValue());
      fork.gone.addAll(gone);
      return fork;
    }

    List<String> texts() {
      return texts(now);
    }

    static List<String> texts(List<Said> list) {
      return list.stream().filter(one -> !one.deleted).map(one -> one.text).toList();
    }

    List<Said> shown() {
      return now.stream().filter(one -> !one.deleted).toList();
    }
  }

  private String word() {
    return "word-" + words.incrementAndGet() + "-of-many";
  }

  private static JsonNode json(HttpResponse<String> reply) {
    assertThat(reply.statusCode()).as(reply.body()).isBetween(200, 299);
    return Json.mapper().readTree(reply.body());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void what_was_deleted_or_replaced_is_never_seen_again(long seed) throws Exception {
    try (var model = FakeModelServer.answering(_ -> FakeModelAnswer.saying(word()));
        var testServer =
            TestServer.durable(
                folder,
                TestServer.Wish.USUAL,
                """
                models: {m: {provider: openai, model: m, baseUrl: '%s', apiKey: none}}
                agents: [{id: agent-code, tools: []}]
                """
                    .formatted(model.url()))) {
      var random = new Random(seed);
      var kagentTestClient = new KagentTestClient(testServer);
      var session = Json.object().put("id", "c0").put("agent_ref", "agent-code");
      assertThat(kagentTestClient.post("/api/sessions", session).statusCode()).isBetween(200, 299);
      var talks = new ArrayList<>(List.of(new Talk("c0")));
      talks.getFirst().places.put(head(testServer, "c0"), List.of());
      for (var step = 0; step < STEPS; step++) {
        var talk = talks.get(random.nextInt(talks.size()));
        step(testServer, model, random, talk, talks);
        check(testServer, kagentTestClient, random, talk);
      }
      for (var talk : talks) {
        check(testServer, kagentTestClient, random, talk);
      }
    }
  }

  private void step(
      TestServer testServer, FakeModelServer model, Random random, Talk talk, List<Talk> talks)
      throws InterruptedException {
    var shown = talk.shown();
    var choice = shown.isEmpty() ? 0 : random.nextInt(10);
    switch (choice) {
      case 0, 1, 2 -> say(testServer, model, talk);
      case 3, 4 -> edit(testServer, talk, shown.get(random.nextInt(shown.size())));
      case 5, 6 -> delete(testServer, talk, shown.get(random.nextInt(shown.size())));
      case 7 -> rewind(testServer, random, talk);
      case 8 -> rerun(testServer, random, talk);
      default -> {
        if (talks.size() < 4) {
          var seqs = List.copyOf(talk.places.keySet());
          var at = seqs.get(random.nextInt(seqs.size()));
          var fork = "c" + talks.size();
          var body = Json.object().put("contextId", fork).put("atSeq", at);
          var path = "/api/contexts/" + talk.context + "/fork";
          assertThat(testServer.post(path, body.toString()).statusCode()).isEqualTo(201);
          talks.add(talk.fork(fork, at));
        }
      }
    }
    talk.places.put(head(testServer, talk.context), List.copyOf(talk.now));
  }

  private static long head(TestServer testServer, String context) {
    return testServer.log.head(new ContextId(context)).seq();
  }

  private void say(TestServer testServer, FakeModelServer model, Talk talk)
      throws InterruptedException {
    var text = word();
    var before = talk.texts();
    var body = Json.object().put("content", text).put("agentId", "agent-code");
    var accepted =
        json(testServer.post("/api/contexts/" + talk.context + "/messages", body.toString()));
    answered(testServer, talk, accepted, text);
    var prompt = new ArrayList<String>();
    for (var part : model.lastRequest().body().path("messages")) {
      if (!part.path("role").asString().equals("system")) {
        prompt.add(part.path("content").asString());
      }
    }
    var expected = new ArrayList<>(before);
    expected.add(text);
    assertThat(String.join("\n\n", prompt)).isEqualTo(String.join("\n\n", expected));
  }

  /// Waits for the answer, and takes both messages down.
  private static void answered(TestServer testServer, Talk talk, JsonNode accepted, String text)
      throws InterruptedException {
    var context = new ContextId(talk.context);
    var task = new TaskId(accepted.path("taskId").asString());
    var at = Position.of(accepted.path("seq").asLong(0));
    for (var over = false; !over; ) {
      assertThat(testServer.log.await(context, at, Duration.ofSeconds(60))).isTrue();
      for (var entry : testServer.log.read(context, at, 100)) {
        at = entry.position();
        over |= task.equals(entry.taskId()) && entry.event() instanceof TaskComplete;
      }
    }
    var items =
        json(testServer.get("/api/contexts/" + context + "/messages?limit=1000")).path("items");
    var question = items.path(items.size() - 2);
    var answer = items.path(items.size() - 1);
    assertThat(question.path("content").asString()).isEqualTo(text);
    for (var one : List.of(question, answer)) {
      talk.now.add(
          new Said(
              one.path("messageId").asString(),
              one.path("role").asString(),
              task.value(),
              one.path("content").asString()));
    }
  }

  private void edit(TestServer testServer, Talk talk, Said said) {
    var text = word();
    json(
        new ChatTestClient(testServer)
            .send(
                "PATCH",
                "/chat/conversations/" + talk.context + "/messages/" + said.id,
                Json.object().put("content", text).toString()));
    talk.gone.add(said.text);
    said.text = text;
  }

  private static void delete(TestServer testServer, Talk talk, Said said) {
    var path = "/api/contexts/" + talk.context + "/messages/" + said.id;
    assertThat(testServer.send(testServer.request(path).DELETE()).statusCode()).isEqualTo(204);
    talk.gone.add(said.text);
    said.deleted = true;
  }

  private static void rewind(TestServer testServer, Random random, Talk talk) {
    var seqs = List.copyOf(talk.places.keySet());
    var to = seqs.get(random.nextInt(seqs.size()));
    json(testServer.post("/api/contexts/" + talk.context + "/rewind", "{\"toSeq\":" + to + "}"));
    talk.now = new ArrayList<>(talk.places.get(to));
  }

  private void rerun(TestServer testServer, Random random, Talk talk) throws InterruptedException {
    var asked = talk.shown().stream().filter(one -> one.role.equals("user")).toList();
    if (asked.isEmpty()) {
      return;
    }
    var said = asked.get(random.nextInt(asked.size()));
    var text = word();
    var accepted =
        json(
            new ChatTestClient(testServer)
                .send(
                    "PATCH",
                    "/chat/conversations/" + talk.context + "/messages/" + said.id,
                    Json.object().put("content", text).put("rerun", true).toString()));
    talk.now = new ArrayList<>(talk.now.subList(0, talk.now.indexOf(said)));
    answered(testServer, talk, accepted, text);
  }

  private static List<String> texts(JsonNode list, Function<JsonNode, JsonNode> text) {
    return list.valueStream().map(text).map(node -> node.asString("")).toList();
  }

  private static void check(
      TestServer testServer, KagentTestClient kagentTestClient, Random random, Talk talk) {
    var expected = talk.texts();
    var context = "/api/contexts/" + talk.context;
    var seqs = List.copyOf(talk.places.keySet());
    var at = seqs.get(random.nextInt(seqs.size()));
    var bodies = new HashMap<String, String>();
    for (var path :
        List.of(
            context,
            context + "/messages?limit=1000",
            context + "/snapshot?messages=1000",
            context + "/snapshot?messages=1000&at=" + at,
            context + "/tasks?limit=1000",
            context + "/events?limit=1000&corrected=true",
            "/chat/conversations/" + talk.context + "/messages?limit=1000",
            "/api/sessions/" + talk.context + "?order=asc&limit=1000",
            "/api/sessions/" + talk.context + "/tasks",
            "/ag-ui/agent-code/threads/" + talk.context + "/events",
            "/api/agents")) {
      bodies.put(path, testServer.get(path).body());
    }
    if (talk.context.equals("c0")) {
      for (var said : talk.now) {
        var path = "/api/agents/" + said.task + "/messages";
        bodies.put(path, testServer.get(path).body());
      }
    }
    var list = Json.object().put("contextId", talk.context).put("historyLength", 100);
    bodies.put(
        "A2A",
        kagentTestClient
            .rpc("ListTasks", list.put("includeArtifacts", true), "A2A-Version", "1.0")
            .body());
    for (var gone : talk.gone) {
      assertThat(bodies)
          .allSatisfy(
              (path, body) -> {
                // The agents of other conversations may still know it.
                if (!path.equals("/api/agents") || talk.context.equals("c0")) {
                  assertThat(body).as(path).doesNotContain(gone);
                }
              });
    }
    Map<String, List<String>> shown =
        Map.of(
            "messages",
            texts(
                parse(bodies.get(context + "/messages?limit=1000")).path("items"),
                one -> one.path("content")),
            "snapshot",
            texts(
                parse(bodies.get(context + "/snapshot?messages=1000")).path("messages"),
                one -> one.path("content")),
            "chat",
            texts(
                parse(bodies.get("/chat/conversations/" + talk.context + "/messages?limit=1000"))
                    .path("messages"),
                one -> one.path("content")),
            "session",
            session(bodies.get("/api/sessions/" + talk.context + "?order=asc&limit=1000")));
    assertThat(shown).allSatisfy((_, read) -> assertThat(read).isEqualTo(expected));
    var past = parse(bodies.get(context + "/snapshot?messages=1000&at=" + at));
    assertThat(texts(past.path("messages"), one -> one.path("content")))
        .isEqualTo(Talk.texts(talk.places.get(at)));
    assertThat(past.at("/context/messageCount").asInt())
        .isEqualTo(Talk.texts(talk.places.get(at)).size());
  }

  private static JsonNode parse(String body) {
    return Json.mapper().readTree(body);
  }

  private static List<String> session(String body) {
    var said = new ArrayList<String>();
    for (var event : parse(body).path("data").path("events")) {
      var data = parse(event.path("data").asString());
      if (data.has("content")) {
        said.add(data.path("content").path("parts").path(0).path("text").asString());
      }
    }
    return said;
  }
}
