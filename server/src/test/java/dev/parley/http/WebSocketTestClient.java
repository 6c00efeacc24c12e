package dev.parley.http;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// A WebSocket client for tests, with blocking methods.
public final class WebSocketTestClient implements WebSocket.Listener, AutoCloseable {

  private static final int PATIENCE_SECONDS = 20;

  private final LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
  private final LinkedBlockingQueue<String> pings = new LinkedBlockingQueue<>();
  private final LinkedBlockingQueue<String> pongs = new LinkedBlockingQueue<>();
  private final CompletableFuture<String> closed = new CompletableFuture<>();
  private final StringBuilder parts = new StringBuilder();
  private final HttpClient http = HttpClient.newHttpClient();
  private final boolean reading;
  private final WebSocket socket;

  /// Connects; `reading` is false for a client that does not read.
  public WebSocketTestClient(int port, String path, Map<String, String> headers, boolean reading) {
    this.reading = reading;
    var builder = http.newWebSocketBuilder();
    headers.forEach(builder::header);
    socket = builder.buildAsync(URI.create("ws://127.0.0.1:" + port + path), this).join();
  }

  public WebSocketTestClient(int port, String path) {
    this(port, path, Map.of(), true);
  }

  /// The server's reply to a client that cannot connect.
  public static int refusal(int port, String path, Map<String, String> headers) {
    try (var unexpected = new WebSocketTestClient(port, path, headers, true)) {
      unexpected.leave();
      throw new AssertionError("connected to " + path);
    } catch (CompletionException refused) {
      if (refused.getCause() instanceof java.net.http.WebSocketHandshakeException shaken) {
        return shaken.getResponse().statusCode();
      }
      throw refused;
    }
  }

  public void send(String text) {
    socket.sendText(text, true).join();
  }

  public void send(byte[] bytes) {
    socket.sendBinary(ByteBuffer.wrap(bytes), true).join();
  }

  /// The next message.
  public String next() throws InterruptedException {
    var text = messages.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (text == null) {
      throw new AssertionError("nothing came; closed: " + closed.getNow("no"));
    }
    return text;
  }

  /// The next message as JSON.
  public JsonNode json() throws InterruptedException {
    return dev.parley.protocol.Json.mapper().readTree(next());
  }

  /// Waits for a ping.
  public void ping() throws InterruptedException {
    if (pings.poll(PATIENCE_SECONDS, TimeUnit.SECONDS) == null) {
      throw new AssertionError("no ping came");
    }
  }

  /// Sends a ping and waits for its pong. The server has then received everything that this client
  /// sent before, also the pongs that the client sends by itself.
  public void awaitReceived() throws InterruptedException {
    socket.sendPing(ByteBuffer.allocate(0)).join();
    if (pongs.poll(PATIENCE_SECONDS, TimeUnit.SECONDS) == null) {
      throw new AssertionError("no pong came");
    }
  }

  /// Waits for the end, and returns the close code and the reason.
  public String closed() throws Exception {
    return closed.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void onOpen(WebSocket opened) {
    if (reading) {
      opened.request(Long.MAX_VALUE);
    }
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
    parts.append(data);
    if (last) {
      messages.add(parts.toString());
      parts.setLength(0);
    }
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onPing(WebSocket from, ByteBuffer message) {
    pings.add("ping");
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onPong(WebSocket from, ByteBuffer message) {
    pongs.add("pong");
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
    closed.complete(code + " " + reason);
    return null;
  }

  @Override
  public void onError(WebSocket from, Throwable error) {
    closed.completeExceptionally(error instanceof IOException ? error : new IOException(error));
  }

  /// Starts to read, if it does not read yet.
  public void read() {
    socket.request(Long.MAX_VALUE);
  }

  /// Closes the connection with a close frame.
  public void leave() {
    socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
  }

  @Override
  public void close() {
    socket.abort();
    http.shutdownNow();
  }
}
