package dev.parley.external.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import tools.jackson.databind.node.ObjectNode;

/// A server for tests that implements the Gemini API on the loopback address. It calls a tool if
/// the last message contains `PLEASE-CALL` (a tool that changes files if it also contains `TOUCH`),
/// stops after the first words if the message contains `HANG`, and otherwise answers.
final class GeminiStandIn implements AutoCloseable {

  private final HttpServer server;
  private final List<String> questions = new CopyOnWriteArrayList<>();
  private final CountDownLatch over = new CountDownLatch(1);

  GeminiStandIn() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /// The bodies of all requests.
  List<String> questions() {
    return List.copyOf(questions);
  }

  private void answer(HttpExchange exchange) throws IOException {
    var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    if (!exchange.getRequestURI().getPath().endsWith("enerateContent")) {
      exchange.sendResponseHeaders(200, 2);
      exchange.getResponseBody().write("{}".getBytes(StandardCharsets.UTF_8));
      exchange.close();
      return;
    }
    var streamed = exchange.getRequestURI().getPath().endsWith(":streamGenerateContent");
    if (streamed) {
      questions.add(body);
    }
    var contents = Json.mapper().readTree(body).path("contents");
    var last = contents.path(contents.size() - 1).toString();
    exchange
        .getResponseHeaders()
        .set("Content-Type", streamed ? "text/event-stream" : "application/json");
    exchange.sendResponseHeaders(200, 0);
    try (var out = exchange.getResponseBody()) {
      if (!streamed) {
        out.write(text("{}", true).toString().getBytes(StandardCharsets.UTF_8));
        return;
      }
      if (last.contains("PLEASE-CALL") && !last.contains("functionResponse")) {
        out.write(event(call(last.contains("TOUCH") ? "touch made" : "echo tool-ran-42")));
      } else {
        out.write(event(text("Hello", false)));
        out.flush();
        if (last.contains("HANG")) {
          over.await();
        }
        out.write(event(text(" from Gemini", true)));
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static byte[] event(ObjectNode data) {
    return ("data: " + data + "\r\n\r\n").getBytes(StandardCharsets.UTF_8);
  }

  private static ObjectNode text(String text, boolean last) {
    var answer = Json.object();
    var candidate = answer.putArray("candidates").addObject().put("index", 0);
    var content = candidate.putObject("content").put("role", "model");
    content.putArray("parts").addObject().put("text", text);
    return end(answer, candidate, last);
  }

  private static ObjectNode call(String command) {
    var answer = Json.object();
    var candidate = answer.putArray("candidates").addObject().put("index", 0);
    var content = candidate.putObject("content").put("role", "model");
    var call = content.putArray("parts").addObject().putObject("functionCall");
    call.put("name", "run_shell_command").putObject("args").put("command", command);
    return end(answer, candidate, true);
  }

  private static ObjectNode end(ObjectNode answer, ObjectNode candidate, boolean last) {
    if (last) {
      candidate.put("finishReason", "STOP");
      answer
          .putObject("usageMetadata")
          .put("promptTokenCount", 5)
          .put("candidatesTokenCount", 3)
          .put("totalTokenCount", 8);
    }
    return answer;
  }

  @Override
  public void close() {
    over.countDown();
    server.stop(0);
  }
}
