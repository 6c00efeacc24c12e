package dev.parley.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import tools.jackson.databind.JsonNode;

/// A webhook, which answers with 503 as often as it is told to.
final class TestWebhook implements AutoCloseable {

  record WebhookDelivery(
      String token, String authorization, String type, String id, JsonNode body) {}

  final BlockingQueue<WebhookDelivery> calls = new LinkedBlockingQueue<>();
  final Queue<String> seen = new ConcurrentLinkedQueue<>();

  /// One permit for each post that was answered, or whose sender no longer waits for the answer.
  final Semaphore answers = new Semaphore(0);

  final AtomicInteger refusals = new AtomicInteger();
  final AtomicInteger refused = new AtomicInteger();

  /// What is done with a post before it is answered.
  final AtomicReference<Runnable> hold = new AtomicReference<>(() -> {});

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpServer server;

  TestWebhook() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
    server.createContext("/hook", this::take);
    server.setExecutor(threads);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
  }

  private void take(HttpExchange exchange) throws IOException {
    try (exchange) {
      answer(exchange);
    } finally {
      answers.release();
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    seen.add(body);
    hold.get().run();
    var refuse = refusals.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
    if (refuse) {
      refused.incrementAndGet();
    } else {
      var headers = exchange.getRequestHeaders();
      calls.add(
          new WebhookDelivery(
              headers.getFirst("X-A2A-Notification-Token"),
              headers.getFirst("Authorization"),
              headers.getFirst("Content-Type"),
              headers.getFirst("X-A2A-Event-Id"),
              Json.mapper().readTree(body)));
    }
    exchange.sendResponseHeaders(refuse ? 503 : 200, -1);
  }

  /// What comes until the task has ended.
  List<WebhookDelivery> untilEnd() throws InterruptedException {
    return until("OMPLETED");
  }

  /// What comes until something holds this.
  List<WebhookDelivery> until(String text) throws InterruptedException {
    var all = new ArrayList<WebhookDelivery>();
    while (all.isEmpty() || !all.getLast().body().toString().contains(text)) {
      var next = calls.poll(20, TimeUnit.SECONDS);
      if (next == null) {
        throw new AssertionError("nothing more came after " + all);
      }
      all.add(next);
    }
    return all;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
