package dev.parley.model;

import dev.parley.model.FakeModelAnswer.Ending;
import dev.parley.protocol.Json;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/// A model server for tests, on a loopback socket. It supports Anthropic's API and both of
/// OpenAI's, and answers with a script or a function of the request, correctly or not. It records
/// all requests.
public final class FakeModelServer implements AutoCloseable {

  /// The API of a request.
  public enum WireApi {
    ANTHROPIC,
    CHAT,
    RESPONSES;

    static WireApi of(String path) {
      if (path.endsWith("/messages")) {
        return ANTHROPIC;
      }
      return path.endsWith("/responses") ? RESPONSES : CHAT;
    }
  }

  /// A received request.
  public record ReceivedRequest(
      WireApi wire, String path, Map<String, String> headers, JsonNode body) {

    public String header(String name) {
      return headers.getOrDefault(name, "");
    }

    /// Returns the last message or tool result, in any API.
    public String lastText() {
      var list = body.path(wire == WireApi.RESPONSES ? "input" : "messages");
      var last = list.path(list.size() - 1);
      if (last.has("output")) {
        return last.path("output").asString("");
      }
      var content = last.path("content");
      if (content.isString()) {
        return content.asString();
      }
      var block = content.path(content.size() - 1);
      return block.path(block.has("text") ? "text" : "content").asString("");
    }

    /// Returns true if the request ends with a tool result.
    public boolean afterCall() {
      var list = body.path(wire == WireApi.RESPONSES ? "input" : "messages");
      var last = list.path(list.size() - 1);
      return switch (wire) {
        case ANTHROPIC ->
            last.path("content").path(0).path("type").asString("").equals("tool_result");
        case CHAT -> last.path("role").asString("").equals("tool");
        case RESPONSES -> last.path("type").asString("").equals("function_call_output");
      };
    }
  }

  private final ServerSocket listener;
  private final Function<ReceivedRequest, FakeModelAnswer> answers;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final List<ReceivedRequest> questions = new CopyOnWriteArrayList<>();
  private final Semaphore asked = new Semaphore(0);
  private final Semaphore hungUp = new Semaphore(0);
  private final Thread acceptor;

  private FakeModelServer(Function<ReceivedRequest, FakeModelAnswer> answers) {
    try {
      this.answers = answers;
      listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
      acceptor = Thread.ofVirtual().name("stand-in").start(this::accept);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Returns a server that calls `answers`, on many threads.
  public static FakeModelServer answering(Function<ReceivedRequest, FakeModelAnswer> answers) {
    return new FakeModelServer(answers);
  }

  /// Returns a server that sends these answers one after the other, and then repeats the last one.
  public static FakeModelServer scripted(FakeModelAnswer... answers) {
    var left = new ArrayDeque<>(List.of(answers));
    return new FakeModelServer(
        _ -> {
          synchronized (left) {
            return left.size() > 1 ? left.removeFirst() : left.getFirst();
          }
        });
  }

  /// Returns the URL of the server.
  public URI url() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  /// Returns all requests so far.
  public List<ReceivedRequest> requests() {
    return List.copyOf(questions);
  }

  public ReceivedRequest lastRequest() {
    return questions.getLast();
  }

  /// Waits for one more request.
  public boolean awaitRequest(Duration patience) throws InterruptedException {
    return asked.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  /// Waits until one more client has closed the connection of an answer that was held.
  public boolean awaitDisconnect(Duration patience) throws InterruptedException {
    return hungUp.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void accept() {
    try {
      while (true) {
        var socket = listener.accept();
        open.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The test has ended.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      var in = new BufferedInputStream(socket.getInputStream());
      var receivedRequest = read(in);
      questions.add(receivedRequest);
      asked.release();
      var answer = answers.apply(receivedRequest);
      try {
        new FakeModelResponseWriter(socket.getOutputStream(), receivedRequest, answer).send();
      } catch (IOException gone) {
        if (answer.ending() == Ending.HOLD) {
          // A client that disconnects before the end of the answer counts, too.
          hungUp.release();
        }
        throw gone;
      }
      switch (answer.ending()) {
        case COMPLETE, CUT -> {}
        case RESET -> socket.setSoLinger(true, 0);
        case HOLD -> hold(in);
      }
    } catch (IOException | InterruptedException gone) {
      // The client disconnected, or the test has ended.
    } finally {
      open.remove(socket);
    }
  }

  private void hold(InputStream in) {
    try {
      while (in.read() >= 0) {
        // Ignore further input.
      }
    } catch (IOException reset) {
      // A reset is also a disconnect.
    }
    hungUp.release();
  }

  private static ReceivedRequest read(InputStream in) throws IOException {
    var path = line(in).split(" ", -1)[1];
    var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    for (var line = line(in); !line.isEmpty(); line = line(in)) {
      var colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
    }
    var length = Integer.parseInt(headers.getOrDefault("Content-Length", "0"));
    var body = Json.mapper().readTree(in.readNBytes(length));
    var plain = URI.create(path).getPath();
    return new ReceivedRequest(WireApi.of(plain), path, headers, body);
  }

  private static String line(InputStream in) throws IOException {
    var text = new java.io.ByteArrayOutputStream();
    for (var b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new IOException("the client disconnected");
      }
      if (b != '\r') {
        text.write(b);
      }
    }
    return text.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    try {
      listener.close();
      // One more connection may be accepted before the thread stops.
      acceptor.join();
      for (var socket : open) {
        socket.close();
      }
    } catch (InterruptedException inHaste) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
