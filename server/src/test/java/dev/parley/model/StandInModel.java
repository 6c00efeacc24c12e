package dev.parley.model;

import dev.parley.model.StandInAnswer.Ending;
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

/// A model's server for tests, on a bare socket of the loopback: it speaks Anthropic's API and both of
/// OpenAI's, whichever it is asked in, and says what a script or a function of the question says, well or
/// badly. It keeps what it was asked.
public final class StandInModel implements AutoCloseable {

  /// The API that a question came in.
  public enum Wire {
    ANTHROPIC,
    CHAT,
    RESPONSES;

    static Wire of(String path) {
      if (path.endsWith("/messages")) {
        return ANTHROPIC;
      }
      return path.endsWith("/responses") ? RESPONSES : CHAT;
    }
  }

  /// A question as it came.
  public record Question(Wire wire, String path, Map<String, String> headers, JsonNode body) {

    public String header(String name) {
      return headers.getOrDefault(name, "");
    }

    /// What somebody said last, or the result of the last call, whatever the API.
    public String lastText() {
      var list = body.path(wire == Wire.RESPONSES ? "input" : "messages");
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

    /// True if the last thing in it is the result of a call.
    public boolean afterCall() {
      var list = body.path(wire == Wire.RESPONSES ? "input" : "messages");
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
  private final Function<Question, StandInAnswer> answers;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final List<Question> questions = new CopyOnWriteArrayList<>();
  private final Semaphore asked = new Semaphore(0);
  private final Semaphore hungUp = new Semaphore(0);
  private final Thread acceptor;

  private StandInModel(Function<Question, StandInAnswer> answers) {
    try {
      this.answers = answers;
      listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
      acceptor = Thread.ofVirtual().name("stand-in").start(this::accept);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// One that answers as `answers` says; it is called by many threads.
  public static StandInModel answering(Function<Question, StandInAnswer> answers) {
    return new StandInModel(answers);
  }

  /// One that gives these answers, one after the other, and the last of them ever after.
  public static StandInModel scripted(StandInAnswer... answers) {
    var left = new ArrayDeque<>(List.of(answers));
    return new StandInModel(
        _ -> {
          synchronized (left) {
            return left.size() > 1 ? left.removeFirst() : left.getFirst();
          }
        });
  }

  /// Where it answers.
  public URI url() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  /// All questions so far.
  public List<Question> questions() {
    return List.copyOf(questions);
  }

  public Question lastQuestion() {
    return questions.getLast();
  }

  /// Waits until one more question has come.
  public boolean awaitQuestion(Duration patience) throws InterruptedException {
    return asked.tryAcquire(patience.toMillis(), TimeUnit.MILLISECONDS);
  }

  /// Waits until one more client has hung up on an answer that was held.
  public boolean awaitHangUp(Duration patience) throws InterruptedException {
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
      // The test is over.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      var in = new BufferedInputStream(socket.getInputStream());
      var question = read(in);
      questions.add(question);
      asked.release();
      var answer = answers.apply(question);
      try {
        new StandInDelivery(socket.getOutputStream(), question, answer).send();
      } catch (IOException gone) {
        if (answer.ending() == Ending.HOLD) {
          // Who hangs up before all was said has hung up, too.
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
      // The client went away, or the test is over.
    } finally {
      open.remove(socket);
    }
  }

  private void hold(InputStream in) {
    try {
      while (in.read() >= 0) {
        // Nothing more is expected.
      }
    } catch (IOException reset) {
      // That is hanging up, too.
    }
    hungUp.release();
  }

  private static Question read(InputStream in) throws IOException {
    var path = line(in).split(" ", -1)[1];
    var headers = new TreeMap<String, String>(String.CASE_INSENSITIVE_ORDER);
    for (var line = line(in); !line.isEmpty(); line = line(in)) {
      var colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
    }
    var length = Integer.parseInt(headers.getOrDefault("Content-Length", "0"));
    var body = Json.mapper().readTree(in.readNBytes(length));
    var plain = URI.create(path).getPath();
    return new Question(Wire.of(plain), path, headers, body);
  }

  private static String line(InputStream in) throws IOException {
    var text = new java.io.ByteArrayOutputStream();
    for (var b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new IOException("the client hung up");
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
      // It may take one more before it notices.
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
