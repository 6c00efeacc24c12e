package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.Timeline.Item;
import dev.parley.client.Timeline.Plain;
import dev.parley.client.Timeline.SubagentGroup;
import dev.parley.client.Timeline.SubagentThread;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Cases that the TypeScript client also runs, so that both give the same result: WORKFLOW-18 to WORKFLOW-24.
class TimelineCasesTest {

  private static final Set<String> NAMES_ANOTHER_AGENT =
      Set.of("subtask-created", "input-received");

  record Case(String name, List<Entry> entries, JsonNode items, JsonNode orphans) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() throws IOException {
    var written = read("timeline.json");
    var random = read("timeline-random.json");
    return Stream.concat(written.path("cases").valueStream(), random.path("cases").valueStream())
        .map(
            one ->
                new Case(name(one), entries(one, written), one.get("items"), one.get("orphans")));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void both_clients_show_the_same(Case one) {
    var timeline = Timeline.of(one.entries());

    assertThat(items(timeline.items())).isEqualTo(one.items());
    assertThat(threads(timeline.orphans())).isEqualTo(one.orphans());
  }

  private static JsonNode read(String file) throws IOException {
    var folder = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(folder.resolve("ui/client/test/cases"))) {
      folder = folder.getParent();
    }
    return Json.mapper()
        .readTree(Files.readString(folder.resolve("ui/client/test/cases").resolve(file)));
  }

  private static String name(JsonNode one) {
    return one.path("name").asString();
  }

  private static List<Entry> entries(JsonNode one, JsonNode file) {
    var compact = one.path("events").valueStream().toList();
    return Stream.iterate(0, i -> i < compact.size(), i -> i + 1)
        .map(i -> entry(compact.get(i), i + 1, file.path("defaults")))
        .toList();
  }

  private static Entry entry(JsonNode compact, int place, JsonNode defaults) {
    var kind = compact.path("kind").asString();
    var seq = compact.path("seq").asInt(place);
    var event = Json.object().put("seq", seq).put("eventId", new UUID(0, seq).toString());
    event.put("contextId", "c").put("timestamp", "2026-11-15T10:00:00.000Z");
    if (compact.has("taskId")) {
      event.put("rootTaskId", "core");
      event.put("agentLevel", compact.has("parentTaskId") ? "subagent" : "core");
      if (!NAMES_ANOTHER_AGENT.contains(kind)) {
        event.put("agentId", "agent");
      }
    }
    if (defaults.get(kind) instanceof ObjectNode rest) {
      event.setAll(rest);
    }
    event.setAll((ObjectNode) compact);
    return EventJson.entry(event);
  }

  private static ArrayNode items(List<Item> items) {
    var array = Json.mapper().createArrayNode();
    for (var item : items) {
      switch (item) {
        case Plain(var entry) -> array.add((int) entry.position().seq());
        case SubagentGroup(var trigger, var threads, var progress) -> {
          var group = array.addObject().put("at", (int) trigger.position().seq());
          group.putArray("progress").addAll(numbers(progress));
          group.set("threads", threads(threads));
        }
      }
    }
    return array;
  }

  private static ArrayNode numbers(BatchProgress progress) {
    return Json.mapper()
        .createArrayNode()
        .add(progress.total())
        .add(progress.completed())
        .add(progress.succeeded())
        .add(progress.failed())
        .add((int) progress.tokens())
        .add((int) progress.toolCalls());
  }

  private static ArrayNode threads(List<SubagentThread> threads) {
    var array = Json.mapper().createArrayNode();
    for (var thread : threads) {
      var object = array.addObject().put("task", thread.taskId().value());
      if (thread.agentId() != null) {
        object.put("agent", thread.agentId().value());
      }
      object.put("status", thread.status().wire());
      object.set("items", items(thread.items()));
    }
    return array;
  }
}
