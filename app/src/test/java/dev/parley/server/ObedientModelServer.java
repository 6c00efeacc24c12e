package dev.parley.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/// A model behind the chat completions API that obeys every instruction that it reads, wherever it
/// stands: `OBEY tool name=value END`. It obeys each only once.
///
/// The same server also serves a web page with an instruction, at `/page`.
final class ObedientModelServer implements AutoCloseable {

  private static final Pattern INSTRUCTION = Pattern.compile("OBEY (\\w+) (\\w+)=(.*?) END");

  private final HttpServer server;
  private final String page;
  final List<JsonNode> prompts = new CopyOnWriteArrayList<>();

  ObedientModelServer(String page) throws IOException {
    this.page = page;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/page", exchange -> send(exchange, "text/plain", this.page));
    server.createContext("/v1/chat/completions", this::complete);
    server.start();
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  private void complete(HttpExchange exchange) throws IOException {
    var prompt = Json.mapper().readTree(exchange.getRequestBody().readAllBytes());
    prompts.add(prompt);
    var made =
        prompt.path("messages").findValues("tool_calls").stream()
            .flatMap(JsonNode::valueStream)
            .map(call -> call.path("function").path("arguments").asString(""))
            .toList();
    var delta = Json.object();
    var instructions = INSTRUCTION.matcher(texts(prompt));
    while (instructions.find()) {
      var name = instructions.group(2);
      var value = instructions.group(3);
      var arguments = Json.object();
      if (name.equals("files")) {
        arguments.put("name", "data").putArray(name).add(value);
      } else {
        arguments.put(name, value);
      }
      if (!made.contains(arguments.toString())) {
        var call = delta.putArray("tool_calls").addObject().put("index", 0);
        call.put("id", "call-" + made.size()).put("type", "function");
        call.putObject("function")
            .put("name", instructions.group(1))
            .put("arguments", arguments.toString());
        break;
      }
    }
    var done = delta.isEmpty();
    var chunk = Json.object().put("id", "1").put("object", "chat.completion.chunk");
    var choice = chunk.putArray("choices").addObject().put("index", 0);
    choice.set("delta", done ? delta.put("content", "Done.") : delta);
    choice.put("finish_reason", done ? "stop" : "tool_calls");
    send(exchange, "text/event-stream", "data: " + chunk + "\n\ndata: [DONE]\n\n");
  }

  /// Everything that the model reads: messages, results, and descriptions of tools.
  private static String texts(JsonNode prompt) {
    var texts = new StringBuilder();
    for (var message : prompt.path("messages")) {
      texts.append(message.path("content")).append('\n');
    }
    for (var tool : prompt.path("tools")) {
      texts.append(tool.path("function").path("description")).append('\n');
    }
    return texts.toString();
  }

  private static void send(HttpExchange exchange, String type, String text) throws IOException {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", type);
    exchange.sendResponseHeaders(200, bytes.length);
    try (exchange;
        var body = exchange.getResponseBody()) {
      body.write(bytes);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
