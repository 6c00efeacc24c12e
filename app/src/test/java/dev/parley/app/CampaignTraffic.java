package dev.parley.app;

import dev.parley.app.CampaignHistory.AcknowledgedFork;
import dev.parley.app.CampaignHistory.Acknowledgement;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.JsonNode;

/// Clients that use a cluster while it has faults: they send every request to any server, and
/// repeat it to another one until it is answered.
final class CampaignTraffic implements AutoCloseable {

  private static final int CLIENTS = 3;
  private static final int CONTEXTS_MAX = 8;
  private static final int OPEN_MAX = 3;
  private static final Duration REQUEST_MAX = Duration.ofSeconds(20);
  private static final Duration RETRY = Duration.ofMillis(100);
  private static final Duration THINK_MAX = Duration.ofMillis(400);

  private final List<URI> servers;
  private final CampaignHistory history;
  private final CampaignReaders readers;
  private final Path ledger;
  private final HttpClient http;
  private final Random seeds;
  private final AtomicInteger keys = new AtomicInteger();
  private final String name;
  private final List<String> contexts = new CopyOnWriteArrayList<>();
  private final Set<String> answered = ConcurrentHashMap.newKeySet();
  private final LinkedBlockingQueue<JsonNode> questions = new LinkedBlockingQueue<>();
  private final Semaphore acknowledged = new Semaphore(0);
  private final CountDownLatch finishing = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final List<Thread> clients = new ArrayList<>();
  private final Thread answering;

  /// The servers, where to record what happens, and the file that tools append to. `name` makes ids
  /// unique.
  record TrafficDependencies(
      List<URI> servers, CampaignHistory history, Path ledger, HttpClient http, String name) {}

  CampaignTraffic(TrafficDependencies dependencies, Random random) {
    this.servers = dependencies.servers();
    this.history = dependencies.history();
    this.ledger = dependencies.ledger();
    this.http = dependencies.http();
    this.name = dependencies.name();
    this.seeds = random;
    this.readers = new CampaignReaders(servers, history, questions::add, http);
    for (var i = 0; i < CLIENTS; i++) {
      var client = new Random(random.nextLong());
      clients.add(Thread.ofVirtual().unstarted(() -> talk(client)));
    }
    var answers = new Random(random.nextLong());
    answering = Thread.ofVirtual().unstarted(() -> answer(answers));
  }

  /// Creates the first contexts and starts the clients.
  void start() throws InterruptedException {
    for (var i = 0; i < CLIENTS; i++) {
      create(new Random(seeds.nextLong()));
    }
    answering.start();
    clients.forEach(Thread::start);
  }

  /// Waits until the servers have acknowledged this many more messages.
  boolean awaitAcknowledgements(int count, Duration patience) throws InterruptedException {
    acknowledged.drainPermits();
    return acknowledged.tryAcquire(count, patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  /// Lets the clients finish what they have begun, and waits until all tasks have ended. Returns the
  /// tasks that have not ended in time.
  Set<String> finish(Duration patience) throws InterruptedException {
    finishing.countDown();
    for (var client : clients) {
      client.join();
    }
    return readers.awaitEnds(patience);
  }

  /// The readers of all contexts.
  CampaignReaders readers() {
    return readers;
  }

  private void talk(Random random) {
    try {
      while (!finishing.await(random.nextInt((int) THINK_MAX.toMillis()), TimeUnit.MILLISECONDS)) {
        var choice = random.nextInt(40);
        var context = contexts.get(random.nextInt(contexts.size()));
        if (choice == 0) {
          delete(random, context);
        } else if (choice <= 2 && contexts.size() < CONTEXTS_MAX) {
          fork(random, context);
        } else if ((choice <= 4 && contexts.size() < CONTEXTS_MAX) || contexts.size() < CLIENTS) {
          create(random);
        } else if (readers.openTasks(context) < OPEN_MAX) {
          send(random, context);
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void create(Random random) throws InterruptedException {
    var context = name + "-c" + keys.incrementAndGet();
    var reply =
        request(
            random, "POST", "/api/contexts", Json.object().put("contextId", context).toString());
    if (expect(reply, 201, "create " + context).isPresent()) {
      follow(context);
    }
  }

  private void follow(String context) {
    history.created(context);
    readers.follow(context);
    contexts.add(context);
  }

  private void send(Random random, String context) throws InterruptedException {
    var message = message(random);
    var reply =
        request(random, "POST", "/api/contexts/" + context + "/messages", message.toString());
    if (reply.isEmpty() || reply.get().statusCode() == 410 || reply.get().statusCode() == 404) {
      return; // Another client deleted the context.
    }
    expect(reply, 202, "send to " + context).ifPresent(this::acknowledge);
  }

  private void acknowledge(JsonNode accepted) {
    readers.opened(accepted.get("contextId").asString(), accepted.get("taskId").asString());
    history.acknowledged(
        new Acknowledgement(
            "message",
            accepted.get("contextId").asString(),
            accepted.get("messageId").asString(),
            accepted.get("seq").asLong()));
    acknowledged.release();
  }

  private JsonNode message(Random random) {
    var message = Json.object();
    return switch (random.nextInt(8)) {
      case 0 -> message.put("content", "say hello " + random.nextInt(100));
      case 1 -> message.put("content", "count to " + (1 + random.nextInt(200)));
      case 2 ->
          message
              .put("content", "count slowly to " + (1 + random.nextInt(40)))
              .put("agentId", "worker");
      case 3 -> message.put("content", "think about storms").put("agentId", "worker");
      case 4, 5 -> message.put("content", effect(random)).put("agentId", "worker");
      case 6 -> message.put("content", effect(random)).put("agentId", "careful");
      default -> message.put("content", "ask me which colour").put("agentId", "worker");
    };
  }

  /// A command with an effect that can be counted, at some moment while it runs.
  private String effect(Random random) {
    return "run `sleep 0.%d; echo $PARLEY_CALL >> %s; sleep 0.%d`"
        .formatted(random.nextInt(8), ledger, random.nextInt(8));
  }

  private void fork(Random random, String source) throws InterruptedException {
    var fork = name + "-f" + keys.incrementAndGet();
    var reply =
        request(
            random,
            "POST",
            "/api/contexts/" + source + "/fork",
            Json.object().put("contextId", fork).toString());
    if (reply.isEmpty()) {
      return;
    }
    var status = reply.get().statusCode();
    if (status == 409 && reply.get().body().contains("context-exists")) {
      status = 201; // The first attempt succeeded, but its reply was lost.
    }
    if (status == 201) {
      history.forked(new AcknowledgedFork(fork, source));
      follow(fork);
    } else if (status != 404 && status != 410) {
      history.violated("fork of " + source + ": " + status + " " + reply.get().body());
    }
  }

  private void delete(Random random, String context) throws InterruptedException {
    if (contexts.size() <= CLIENTS || !contexts.remove(context)) {
      return;
    }
    history.deleting(context);
    readers.abandon(context);
    var reply = request(random, "DELETE", "/api/contexts/" + context, "");
    if (reply.isEmpty()) {
      return;
    }
    var status = reply.get().statusCode();
    if (status != 204 && status != 404 && status != 410) {
      history.violated("delete " + context + ": " + status + " " + reply.get().body());
    }
  }

  private void answer(Random random) {
    try {
      while (closed.getCount() > 0) {
        var question = questions.poll(RETRY.toMillis(), TimeUnit.MILLISECONDS);
        if (question != null && answered.add(question.get("inputId").asString())) {
          answer(random, question);
        }
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void answer(Random random, JsonNode question) throws InterruptedException {
    var context = question.get("contextId").asString();
    var input = question.get("inputId").asString();
    var body = Json.object();
    if (question.get("inputType").asString().equals("confirmation")) {
      body.put("value", true);
    } else {
      body.put("value", "blue");
    }
    var reply =
        request(random, "POST", "/api/contexts/" + context + "/inputs/" + input, body.toString());
    if (reply.isEmpty() || Set.of(404, 409, 410).contains(reply.get().statusCode())) {
      return; // The question is not open any more: its task has ended.
    }
    expect(reply, 202, "answer in " + context)
        .ifPresent(
            accepted ->
                history.acknowledged(
                    new Acknowledgement(
                        "input-received", context, input, accepted.get("seq").asLong())));
  }

  private Optional<JsonNode> expect(
      Optional<HttpResponse<String>> reply, int status, String request) {
    if (reply.isEmpty()) {
      return Optional.empty();
    }
    if (reply.get().statusCode() != status) {
      history.violated(request + ": " + reply.get().statusCode() + " " + reply.get().body());
      return Optional.empty();
    }
    return Optional.of(Json.mapper().readTree(reply.get().body()));
  }

  /// Sends a request, always with the same key, to one server after another until one answers it.
  /// Empty if the traffic was closed before.
  Optional<HttpResponse<String>> request(Random random, String method, String path, String body)
      throws InterruptedException {
    var key = name + "-k" + keys.incrementAndGet();
    while (true) {
      var server = servers.get(random.nextInt(servers.size()));
      var request =
          HttpRequest.newBuilder(server.resolve(path))
              .timeout(REQUEST_MAX)
              .header("Content-Type", "application/json")
              .header("Idempotency-Key", key)
              .method(
                  method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
      try {
        var reply = http.send(request.build(), BodyHandlers.ofString());
        if (reply.statusCode() != 503 && reply.statusCode() != 429) {
          return Optional.of(reply);
        }
      } catch (IOException lost) {
        // It is unknown whether the server has accepted it.
      }
      if (closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS)) {
        return Optional.empty();
      }
    }
  }

  @Override
  public void close() {
    finishing.countDown();
    closed.countDown();
    readers.close();
    clients.forEach(Thread::interrupt);
    answering.interrupt();
  }
}
