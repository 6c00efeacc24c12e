package dev.parley.app;

import dev.parley.app.EventSourceReader.Frame;
import dev.parley.app.EventSourceReader.FrameHandler;
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
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.JsonNode;

/// Compares all servers of a cluster that has no faults any more: each context accepts a message,
/// and all servers, readers and lists agree about it.
final class ClusterComparison {

  /// Nothing takes so long, also on a slow machine.
  private static final Duration NEVER = Duration.ofMinutes(2);

  private static final Duration POLL = Duration.ofMillis(20);

  private final List<URI> servers;
  private final HttpClient http;
  private final CampaignHistory history;
  private final CampaignReaders readers;
  private final CountDownLatch never = new CountDownLatch(1);

  /// The servers, a client, what is known about them, and their readers.
  record ComparisonDependencies(
      List<URI> servers, HttpClient http, CampaignHistory history, CampaignReaders readers) {}

  ClusterComparison(ComparisonDependencies dependencies) {
    this.servers = dependencies.servers();
    this.http = dependencies.http();
    this.history = dependencies.history();
    this.readers = dependencies.readers();
  }

  /// Sends a message to a context, and waits until its task is complete.
  void sendLast(String context) throws InterruptedException {
    var body = Json.object().put("content", "say goodbye").put("agentId", "worker").toString();
    var request =
        HttpRequest.newBuilder(servers.getFirst().resolve("/api/contexts/" + context + "/messages"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", "goodbye")
            .POST(BodyPublishers.ofString(body));
    var reply = send(request);
    if (reply.statusCode() != 202) {
      history.violated(context + " accepts no new message: " + reply.body());
      return;
    }
    var task = Json.mapper().readTree(reply.body()).get("taskId").asString();
    if (!awaitCompleted(context, task)) {
      history.violated(context + ": the last task does not complete");
    }
  }

  private boolean awaitCompleted(String context, String task) throws InterruptedException {
    var deadline = System.nanoTime() + NEVER.toNanos();
    while (System.nanoTime() < deadline) {
      var found = get(servers.getLast(), "/api/contexts/" + context + "/tasks/" + task);
      if (found.path("status").asString("").equals("completed")) {
        return true;
      }
      var _ = never.await(POLL.toMillis(), TimeUnit.MILLISECONDS);
    }
    return false;
  }

  /// Compares what all servers, readers and lists say about a context, and records its log. If it is
  /// missing, there is no log of it, which the checker reports.
  void compare(String context) throws InterruptedException {
    var path = servers.getFirst().resolve("/api/contexts/" + context);
    if (send(HttpRequest.newBuilder(path)).statusCode() == 404) {
      return;
    }
    var logs = new ArrayList<List<JsonNode>>();
    for (var server : servers) {
      logs.add(events(server, context));
    }
    var log = logs.getFirst();
    history.log(context, log);
    if (logs.stream().anyMatch(other -> !other.equals(log))) {
      history.violated(context + ": servers return different events");
    }
    if (!context.startsWith("probe")) {
      var late = readers.awaitFrames(context, log.size(), NEVER);
      if (!late.isEmpty()) {
        history.violated(context + ": the end of the log does not arrive at " + late);
      }
      compareChat(context, readers.chat(context));
    }
    compareViews(context, log);
  }

  /// Reads the chat stream again, from the first frame that was received.
  private void compareChat(String context, List<Frame> received) throws InterruptedException {
    if (received.isEmpty()) {
      history.violated(context + ": nothing arrives on the chat API");
      return;
    }
    var expected = received.subList(1, received.size());
    var again = new ArrayList<Frame>();
    var complete = new CountDownLatch(expected.isEmpty() ? 0 : 1);
    try (var _ =
        new EventSourceReader(
            servers::getFirst,
            "/chat/stream?conversationId=" + context,
            received.getFirst().id(),
            new FrameHandler() {
              @Override
              public boolean take(Frame frame) {
                again.add(frame);
                if (again.size() >= expected.size()) {
                  complete.countDown();
                  return false;
                }
                return true;
              }

              @Override
              public void rejected(int status) {}
            })) {
      if (!complete.await(NEVER.toSeconds(), TimeUnit.SECONDS)) {
        history.violated(context + ": the chat API does not send again what it has sent");
      }
    }
    for (var i = 0; i < expected.size() && i < again.size(); i++) {
      if (!expected.get(i).equals(again.get(i))) {
        history.violated(
            "%s: the chat API sent %s, and later %s"
                .formatted(context, expected.get(i), again.get(i)));
        return;
      }
    }
  }

  /// The lists of tasks and messages say the same as the log.
  private void compareViews(String context, List<JsonNode> log) throws InterruptedException {
    var inLog = log.stream().filter(event -> event.path("kind").asString().equals("message"));
    var messages = inLog.map(event -> event.get("messageId").asString()).toList();
    var deadline = System.nanoTime() + NEVER.toNanos();
    List<String> listed = List.of();
    while (System.nanoTime() < deadline) {
      var page = get(servers.getFirst(), "/api/contexts/" + context + "/messages?limit=1000");
      listed =
          page.path("items").valueStream().map(item -> item.get("messageId").asString()).toList();
      if (listed.equals(messages)) {
        return;
      }
      var _ = never.await(POLL.toMillis(), TimeUnit.MILLISECONDS);
    }
    history.violated(
        "%s: the list of messages is %s, the log has %s".formatted(context, listed, messages));
  }

  private List<JsonNode> events(URI server, String context) throws InterruptedException {
    var events = new ArrayList<JsonNode>();
    var after = "0";
    while (true) {
      var page = get(server, "/api/contexts/" + context + "/events?limit=1000&after=" + after);
      page.get("events").forEach(events::add);
      after = page.get("position").asString();
      if (!page.get("hasMore").asBoolean()) {
        return events;
      }
    }
  }

  private JsonNode get(URI server, String path) throws InterruptedException {
    var reply = send(HttpRequest.newBuilder(server.resolve(path)));
    if (reply.statusCode() != 200) {
      throw new IllegalStateException(path + ": " + reply.statusCode() + " " + reply.body());
    }
    return Json.mapper().readTree(reply.body());
  }

  /// Sends a request until it is answered: the last takeover may not have ended.
  private HttpResponse<String> send(HttpRequest.Builder request) throws InterruptedException {
    var deadline = System.nanoTime() + NEVER.toNanos();
    while (true) {
      try {
        var reply = http.send(request.timeout(NEVER).build(), BodyHandlers.ofString());
        if (reply.statusCode() != 503 || System.nanoTime() > deadline) {
          return reply;
        }
      } catch (IOException lost) {
        if (System.nanoTime() > deadline) {
          throw new UncheckedIOException(lost);
        }
      }
      var _ = never.await(POLL.toMillis(), TimeUnit.MILLISECONDS);
    }
  }
}
