package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/// Records what a server has sent to its clients, and checks that the log still agrees with it.
///
/// Uses plain HTTP instead of our client, which would hide errors by repairing them.
final class LogWitness implements AutoCloseable {

  private static final Set<String> ENDS = Set.of("failed", "canceled", "completed");

  private final HttpClient http = HttpClient.newHttpClient();
  private final Set<String> contexts = ConcurrentHashMap.newKeySet();
  private final Set<String> used = ConcurrentHashMap.newKeySet();
  private final Map<String, JsonNode> acknowledged = new ConcurrentHashMap<>();
  private final Map<String, ConcurrentSkipListMap<Long, String>> seen = new ConcurrentHashMap<>();
  private final Queue<String> contradictions = new ConcurrentLinkedQueue<>();

  /// Has a permit for each new event that a stream brought.
  private final Semaphore arrivals = new Semaphore(0);

  /// Creates a context, and records it when the server has acknowledged it.
  String create(URI server) throws InterruptedException {
    var id = json(post(server, "/api/contexts", "{}"), 201).get("contextId").asString();
    contexts.add(id);
    used.add(id);
    return id;
  }

  /// Sends a message and records the acknowledgement.
  JsonNode send(URI server, String context, String text) throws InterruptedException {
    used.add(context);
    var body = Json.object().put("content", text).toString();
    var accepted = json(post(server, "/api/contexts/" + context + "/messages", body), 202);
    acknowledged.put(accepted.get("messageId").asString(), accepted);
    return accepted;
  }

  /// Reads a stream on another thread until the connection is lost, and records every frame.
  void startWatching(URI server, String context) {
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                watch(server, context);
              } catch (InterruptedException told) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private void watch(URI server, String context) throws InterruptedException {
    var request =
        HttpRequest.newBuilder(server.resolve("/api/contexts/" + context + "/stream")).build();
    var frames = seen.computeIfAbsent(context, _ -> new ConcurrentSkipListMap<>());
    try {
      http.send(request, BodyHandlers.ofLines()).body().forEach(line -> note(frames, line));
    } catch (IOException | UncheckedIOException cut) {
      return; // The server was killed, as the test intends.
    }
  }

  /// Starts to count the events that the streams bring.
  void countArrivals() {
    arrivals.drainPermits();
  }

  /// Waits until the streams have brought this many events since [#countArrivals].
  void awaitArrivals(int count) throws InterruptedException {
    assertThat(arrivals.tryAcquire(count, 60, TimeUnit.SECONDS)).as("events arrive").isTrue();
  }

  private void note(Map<Long, String> frames, String line) {
    if (line.startsWith("data: {") && line.endsWith("}")) {
      var json = line.substring("data: ".length());
      var seq = Json.mapper().readTree(json).get("seq");
      if (seq != null && !json.contains("\"kind\":\"stream-")) {
        var earlier = frames.putIfAbsent(seq.asLong(), json);
        if (earlier == null) {
          arrivals.release();
        } else if (!earlier.equals(json)) {
          contradictions.add(earlier + " became " + json);
        }
      }
    }
  }

  /// The terminal events of each task that was created.
  private static Map<String, List<String>> ends(List<JsonNode> events) {
    var ends = new HashMap<String, List<String>>();
    for (var event : events) {
      var kind = event.get("kind").asString();
      if (kind.equals("task-created")) {
        ends.put(event.get("taskId").asString(), new ArrayList<>());
      } else if (kind.equals("task-status") && ENDS.contains(event.get("status").asString())) {
        ends.get(event.get("taskId").asString()).add(event.get("status").asString());
      }
    }
    return ends;
  }

  /// Checks the contexts that were used since the last check.
  void holdToRecent(URI server) throws InterruptedException {
    var recent = Set.copyOf(used);
    used.removeAll(recent);
    check(server, recent);
  }

  /// Checks that all acknowledged or received events exist, without gaps, and that no task ended
  /// twice.
  void holdTo(URI server) throws InterruptedException {
    var messages = check(server, contexts);
    assertThat(messages).containsAll(acknowledged.keySet());
  }

  private Set<String> check(URI server, Set<String> some) throws InterruptedException {
    assertThat(contradictions).as("the same event, always").isEmpty();
    var messages = new HashSet<String>();
    for (var context : some) {
      var events = events(server, context);
      for (var i = 0; i < events.size(); i++) {
        assertThat(events.get(i).get("seq").asLong()).isEqualTo(i + 1);
      }
      seen.getOrDefault(context, new ConcurrentSkipListMap<>())
          .forEach(
              (seq, json) ->
                  assertThat(events.get(Math.toIntExact(seq - 1)).toString())
                      .isEqualTo(Json.mapper().readTree(json).toString()));
      ends(events).forEach((task, ends) -> assertThat(ends).as(task).hasSizeLessThan(2));
      for (var event : events) {
        if (event.get("kind").asString().equals("message")) {
          messages.add(event.get("messageId").asString());
        }
      }
    }
    acknowledged.values().stream()
        .filter(accepted -> some.contains(accepted.get("contextId").asString()))
        .forEach(accepted -> assertThat(messages).contains(accepted.get("messageId").asString()));
    return messages;
  }

  /// Waits until every task of every context has ended, exactly once.
  void awaitEnds(URI server) throws InterruptedException {
    for (var context : contexts) {
      var tasks = json(get(server, "/api/contexts/" + context + "/tasks?limit=1000"), 200);
      for (var task : tasks.get("items")) {
        awaitEnd(server, context, task.get("taskId").asString());
      }
      ends(events(server, context))
          .forEach((task, ends) -> assertThat(ends).as("ends of " + task).hasSize(1));
    }
  }

  private void awaitEnd(URI server, String context, String task) throws InterruptedException {
    var request =
        HttpRequest.newBuilder(
                server.resolve(
                    "/api/contexts/" + context + "/stream?kinds=task-status&taskId=" + task))
            .timeout(Duration.ofSeconds(60))
            .build();
    try (var lines = http.send(request, BodyHandlers.ofLines()).body()) {
      var ended =
          lines.anyMatch(line -> ENDS.stream().anyMatch(e -> line.contains("\"status\":\"" + e)));
      assertThat(ended).as("task %s ends", task).isTrue();
    } catch (IOException cut) {
      throw new AssertionError("the stream of task " + task + " was cut", cut);
    }
  }

  List<JsonNode> events(URI server, String context) throws InterruptedException {
    var events = new ArrayList<JsonNode>();
    var after = "0";
    while (true) {
      var page =
          json(get(server, "/api/contexts/" + context + "/events?limit=1000&after=" + after), 200);
      page.get("events").forEach(events::add);
      after = page.get("position").asString();
      if (!page.get("hasMore").asBoolean()) {
        return events;
      }
    }
  }

  /// The content of the views for every context, as one text.
  String views(URI server) throws InterruptedException {
    var text = new StringBuilder();
    for (var context : contexts.stream().sorted().toList()) {
      for (var view : List.of("", "/messages?limit=1000", "/tasks?limit=1000", "/snapshot")) {
        text.append(get(server, "/api/contexts/" + context + view).body()).append('\n');
      }
    }
    return text.toString();
  }

  List<String> contexts() {
    return List.copyOf(contexts);
  }

  int acknowledgements() {
    return acknowledged.size();
  }

  private HttpResponse<String> get(URI server, String path) throws InterruptedException {
    return send(HttpRequest.newBuilder(server.resolve(path)).GET());
  }

  private HttpResponse<String> post(URI server, String path, String body)
      throws InterruptedException {
    return send(
        HttpRequest.newBuilder(server.resolve(path))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body)));
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws InterruptedException {
    try {
      return http.send(request.timeout(Duration.ofSeconds(30)).build(), BodyHandlers.ofString());
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  private static JsonNode json(HttpResponse<String> response, int status) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    return Json.mapper().readTree(response.body());
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
