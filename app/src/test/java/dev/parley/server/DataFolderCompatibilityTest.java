package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.PendingView;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskView;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

/// A data folder of an earlier version opens, shows the same events, and its tasks continue.
///
/// `data-folders/first.zip` is the data folder of a server that was killed while tasks were open;
/// `first-events.json.gz` has the events that it returned. Both are added for each version that
/// changes what is stored, and never edited.
@Timeout(120)
class DataFolderCompatibilityTest {

  /// Shortly after the server was killed. A question of the folder expires after 24 hours.
  private static final Instant STARTED = Instant.parse("2026-11-17T04:00:00Z");

  @TempDir Path folder;

  @BeforeEach
  void unpack() throws IOException {
    var data = Files.createDirectory(folder.resolve("data"));
    try (var zip = new ZipInputStream(resource("first.zip"))) {
      for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        Files.copy(zip, data.resolve(entry.getName()));
      }
    }
  }

  @Test
  void every_event_is_shown_as_before() throws IOException {
    var before = eventsOfFirstVersion();
    assertThat(before).hasSize(11);

    try (var server = start()) {
      for (var context : before.entrySet()) {
        assertThat(events(server, context.getKey(), context.getValue().size()))
            .as(context.getKey())
            .isEqualTo(context.getValue());
      }
    }
  }

  @Test
  void open_tasks_continue_and_open_questions_can_be_answered() throws InterruptedException {
    try (var server = start();
        var client = new ParleyClient(server.url)) {
      assertThat(client.inbox(null, 10).items())
          .extracting(item -> item.contextId().value())
          .containsExactlyInAnyOrder("approval", "supervised-approval", "question");
      for (var question : client.inbox(null, 10).items()) {
        answer(client, question);
      }

      for (var name : List.of("approval", "supervised-approval", "question", "interrupted")) {
        var context = new ContextId(name);
        for (var task : rootTasks(client, context)) {
          assertThat(ended(client, context, task.taskId())).as(name).isEqualTo(TaskState.COMPLETED);
        }
      }
    }
  }

  private TestServer start() {
    var clock =
        InstantSource.offset(InstantSource.system(), Duration.between(Instant.now(), STARTED));
    return TestServer.durable(folder, "{}", clock);
  }

  private static void answer(ParleyClient client, PendingView question) {
    JsonNode value =
        question.contextId().value().equals("question")
            ? StringNode.valueOf("blue")
            : BooleanNode.TRUE;
    client.answer(question.contextId(), Objects.requireNonNull(question.inputId()), value);
  }

  private static List<TaskView> rootTasks(ParleyClient client, ContextId context) {
    return client.tasks(context, null, 100).items().stream()
        .filter(task -> task.parentTaskId() == null)
        .toList();
  }

  private static TaskState ended(ParleyClient client, ContextId context, TaskId task)
      throws InterruptedException {
    try (var stream = client.stream(context, Position.START, StreamFilter.ALL.onlyTask(task))) {
      for (var next = stream.next(); next.isPresent(); next = stream.next()) {
        if (next.get().event() instanceof TaskStatus status && status.status().terminal()) {
          return status.status();
        }
      }
    }
    throw new AssertionError("the task did not end");
  }

  private static List<JsonNode> events(TestServer server, String context, int count) {
    var events = new ArrayList<JsonNode>();
    var position = "0";
    while (events.size() < count) {
      var rest = "?internal=true&limit=" + (count - events.size()) + "&after=" + position;
      var page =
          Json.mapper().readTree(server.get("/api/contexts/" + context + "/events" + rest).body());
      page.path("events").forEach(events::add);
      position = page.path("position").asString();
    }
    return events;
  }

  private static Map<String, List<JsonNode>> eventsOfFirstVersion() throws IOException {
    try (var json = new GZIPInputStream(resource("first-events.json.gz"))) {
      var type =
          Json.mapper()
              .getTypeFactory()
              .constructMapType(
                  Map.class,
                  Json.mapper().constructType(String.class),
                  Json.mapper()
                      .getTypeFactory()
                      .constructCollectionType(List.class, JsonNode.class));
      return Json.mapper().readValue(json, type);
    }
  }

  private static InputStream resource(String name) {
    return Objects.requireNonNull(
        DataFolderCompatibilityTest.class.getResourceAsStream("/data-folders/" + name));
  }
}
