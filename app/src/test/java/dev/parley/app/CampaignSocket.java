package dev.parley.app;

import dev.parley.app.CampaignHistory.Reading;
import dev.parley.protocol.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Reads many contexts on one WebSocket. When it is lost, or silent for too long, it connects to any
/// server again and subscribes after what it has received.
final class CampaignSocket implements AutoCloseable {

  private static final Duration CONNECT_MAX = Duration.ofSeconds(10);

  /// Several heartbeats.
  private static final Duration SILENCE_MAX = Duration.ofSeconds(6);

  private static final Duration RETRY = Duration.ofMillis(100);
  private static final String NAME = "the reader of the WebSocket";

  /// The text of an event; the same object for all readers.
  interface SharedTexts {
    String shared(String context, long seq, String json);
  }

  private final Supplier<URI> servers;
  private final CampaignHistory history;
  private final SharedTexts texts;
  private final HttpClient http;
  private final Map<String, Reading> followed = new ConcurrentHashMap<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread;

  CampaignSocket(
      Supplier<URI> servers, CampaignHistory history, SharedTexts texts, HttpClient http) {
    this.servers = servers;
    this.history = history;
    this.texts = texts;
    this.http = http;
    this.thread = Thread.ofVirtual().start(this::run);
  }

  /// Subscribes to a context, soon.
  void follow(String context) {
    followed.put(context, history.read(NAME, context));
  }

  void abandon(String context) {
    followed.remove(context);
  }

  /// One connection. The empty message is its end.
  private static final class Connection implements WebSocket.Listener {
    final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        messages.add(text.toString());
        text.setLength(0);
      }
      socket.request(1);
      return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
      messages.add("");
      return CompletableFuture.completedStage(null);
    }

    @Override
    public void onError(WebSocket socket, Throwable error) {
      messages.add("");
    }
  }

  private void run() {
    try {
      do {
        var connection = new Connection();
        var socket = connect(connection);
        if (socket != null) {
          try {
            read(socket, connection);
          } finally {
            socket.abort();
          }
        }
      } while (!closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private @Nullable WebSocket connect(Connection connection) throws InterruptedException {
    var address = URI.create(servers.get().toString().replace("http:", "ws:") + "/api/ws");
    var socket = http.newWebSocketBuilder().buildAsync(address, connection);
    try {
      return socket.get(CONNECT_MAX.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException lost) {
      var _ = socket.thenAccept(WebSocket::abort);
      return null;
    }
  }

  private void read(WebSocket socket, Connection connection) throws InterruptedException {
    var subscribed = new HashSet<String>();
    var heard = System.nanoTime();
    while (closed.getCount() > 0) {
      for (var context : followed.keySet()) {
        if (subscribed.add(context) && !subscribe(socket, context)) {
          return;
        }
      }
      var message = connection.messages.poll(RETRY.toMillis(), TimeUnit.MILLISECONDS);
      if (message != null) {
        if (message.isEmpty() || !take(Json.mapper().readTree(message))) {
          return;
        }
        heard = System.nanoTime();
      } else if (!subscribed.isEmpty() && System.nanoTime() - heard > SILENCE_MAX.toNanos()) {
        return;
      }
    }
  }

  private boolean subscribe(WebSocket socket, String context) throws InterruptedException {
    var reading = followed.get(context);
    if (reading == null) {
      return true;
    }
    var after = reading.frames().size();
    var request =
        Json.object()
            .put("type", "subscribe")
            .put("contextId", context)
            .put("after", after)
            .toString();
    try {
      socket.sendText(request, true).get(CONNECT_MAX.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException | TimeoutException lost) {
      return false;
    }
  }

  /// False if the connection must be opened again.
  private boolean take(JsonNode message) {
    var reading = followed.get(message.path("contextId").asString(""));
    if (reading == null) {
      return true;
    }
    switch (message.path("type").asString()) {
      case "event" -> {
        var event = message.get("event");
        var text = texts.shared(reading.contextId(), event.path("seq").asLong(), event.toString());
        synchronized (history) {
          reading.frames().add(text);
          history.notifyAll();
        }
      }
      case "gap", "error" -> {
        var status = message.path("status").asInt(0);
        if (status == 503 || status == 429) {
          return false;
        }
        if (!history.isDeleted(reading.contextId())) {
          history.violated(NAME + " received " + message);
        }
      }
      default -> {}
    }
    return true;
  }

  @Override
  public void close() {
    closed.countDown();
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
