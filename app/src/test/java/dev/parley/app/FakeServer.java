package dev.parley.app;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/// Answers like the native API, for one context with a given log.
final class FakeServer implements AutoCloseable {

  static final String CONTEXT =
      "{\"contextId\":\"c-1\",\"title\":\"A talk\",\"owner\":\"local\",\"createdAt\":"
          + "\"2026-11-15T10:30:00.000Z\",\"updatedAt\":\"2026-11-15T10:31:00.000Z\","
          + "\"position\":9,\"messageCount\":2,\"openTasks\":0}";
  private static final String MESSAGES =
      "{\"messageId\":\"m-1\",\"seq\":2,\"role\":\"user\",\"content\":\"hi\\u001b[2J\","
          + "\"createdAt\":\"2026-11-15T10:30:00.000Z\"},{\"messageId\":\"m-2\",\"seq\":8,"
          + "\"role\":\"assistant\",\"content\":\"Hello\",\"agentId\":\"agent-code\","
          + "\"createdAt\":\"2026-11-15T10:30:01.000Z\"}";
  private static final String ARTIFACT =
      "{\"artifactId\":\"a-1\",\"type\":\"file\",\"version\":1,\"latestVersion\":1,\"status\":"
          + "\"complete\",\"name\":\"report.md\",\"size\":2048,\"firstSeq\":6,\"lastSeq\":7,\"createdAt\":"
          + "\"2026-11-15T10:30:00.000Z\",\"updatedAt\":\"2026-11-15T10:30:00.000Z\"}";

  private static final String AGENT =
      "{\"id\":\"agent-code\",\"name\":\"Code\",\"type\":\"llm\",\"tools\":[],\"toolNames\":[],"
          + "\"taskTypes\":[]}";

  private final HttpServer server;
  private final List<Entry> log;
  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final AtomicInteger refusals = new AtomicInteger();
  private volatile String taskStatus = "completed";
  private volatile String inbox = "";

  FakeServer(List<Entry> log) {
    this.log = log;
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
  }

  /// The environment in which commands find this server.
  Map<String, String> environment() {
    return Map.of("PARLEY_URL", "http://127.0.0.1:" + server.getAddress().getPort());
  }

  List<String> requests() {
    return List.copyOf(requests);
  }

  /// Sets the items of the inbox, as JSON without `seq` and `timestamp`.
  void inbox(String items) {
    inbox =
        items.replace(
            "\"kind\":", "\"seq\":5,\"timestamp\":\"2026-11-15T10:30:00.000Z\",\"kind\":");
  }

  /// Rejects the first `answers` answers.
  void refuse(int answers) {
    refusals.set(answers);
  }

  void taskStatus(String status) {
    taskStatus = status;
  }

  private void answer(HttpExchange exchange) throws IOException {
    var path = exchange.getRequestURI().getPath();
    var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    requests.add(exchange.getRequestMethod() + " " + path + " " + body);
    var rest = path.replaceFirst("^/api/contexts/c-1", "");
    switch (rest) {
      case "/api/contexts" ->
          json(exchange, exchange.getRequestMethod().equals("POST") ? CONTEXT : items(CONTEXT));
      case "" -> json(exchange, CONTEXT);
      case "/messages" ->
          json(
              exchange,
              exchange.getRequestMethod().equals("POST")
                  ? "{\"contextId\":\"c-1\",\"messageId\":\"m-1\",\"taskId\":\"task-0001\",\"seq\":0}"
                  : items(MESSAGES));
      case "/events" -> json(exchange, page(exchange));
      case "/stream" -> stream(exchange);
      case "/tasks" -> json(exchange, items(task()));
      case "/tasks/task-0001", "/tasks/task-0001/cancel" -> json(exchange, task());
      case "/artifacts" -> json(exchange, items(ARTIFACT));
      case "/api/task-lookup/task-0001" ->
          json(exchange, "{\"contextId\":\"c-1\",\"taskId\":\"task-0001\"}");
      case "/api/agent-types" -> json(exchange, items(AGENT));
      case "/api/inbox" -> json(exchange, items(inbox));
      case "/inputs/i-1", "/inputs/i-2", "/auths/au-1" -> settle(exchange);
      case "/rewind" -> json(exchange, "{\"contextId\":\"c-1\",\"seq\":10,\"toSeq\":4}");
      case "/fork" -> json(exchange, CONTEXT.replace("c-1", "c-2"));
      case "/healthz" -> json(exchange, "{\"status\":\"ok\"}");
      case "/snapshot" ->
          json(
              exchange,
              "{\"position\":9,\"context\":%s,\"messages\":[%s],\"hasEarlierMessages\":false,"
                      .formatted(CONTEXT, MESSAGES)
                  + "\"tasks\":[%s],\"pendingInputs\":[],\"pendingAuths\":[],\"artifacts\":[%s],"
                      .formatted(task(), ARTIFACT)
                  + "\"partialTexts\":[],\"usage\":[{\"model\":\"offline\",\"calls\":1,"
                  + "\"inputTokens\":3,\"outputTokens\":5,\"cacheCreationInputTokens\":0,"
                  + "\"cacheReadInputTokens\":0}],\"state\":{}}");
      default ->
          send(
              exchange,
              404,
              "application/problem+json",
              "{\"status\":404,\"code\":\"not-found\",\"detail\":\"no such thing\"}");
    }
  }

  /// Rejects the first answers, and accepts the others.
  private void settle(HttpExchange exchange) throws IOException {
    if (refusals.getAndDecrement() > 0) {
      var problem = "{\"status\":400,\"code\":\"invalid-answer\",\"detail\":\"that does not fit\"}";
      send(exchange, 400, "application/problem+json", problem);
    } else {
      json(exchange, "{}");
    }
  }

  private String task() {
    return ("{\"taskId\":\"task-0001\",\"contextId\":\"c-1\",\"rootTaskId\":\"task-0001\",\"agentId\":"
            + "\"agent-code\",\"agentLevel\":\"core\",\"seq\":3,\"initiator\":\"user\",\"status\":\"%s\",\"prompt\":\"hi\",\"createdAt\":"
            + "\"2026-11-15T10:30:00.000Z\",\"updatedAt\":\"2026-11-15T10:30:01.000Z\",\"endedAt\":"
            + "\"2026-11-15T10:30:01.500Z\"}")
        .formatted(taskStatus);
  }

  private String page(HttpExchange exchange) {
    var after =
        Integer.parseInt(exchange.getRequestURI().getQuery().replaceAll(".*after=(\\d+).*", "$1"));
    var events =
        log.stream().skip(after).limit(2).map(EventJson::text).collect(Collectors.joining(","));
    var position = Math.min(log.size(), after + 2);
    return "{\"events\":[%s],\"position\":%d,\"hasMore\":%b}"
        .formatted(events, position, position < log.size());
  }

  private void stream(HttpExchange exchange) throws IOException {
    var after = Integer.parseInt(exchange.getRequestHeaders().getFirst("Last-Event-ID"));
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    var out = exchange.getResponseBody();
    for (var entry : log.subList(after, log.size())) {
      var frame = "id: " + entry.position() + "\ndata: " + EventJson.text(entry) + "\n\n";
      out.write(frame.getBytes(StandardCharsets.UTF_8));
    }
    out.write(
        "event: stream-gap\ndata: {\"kind\":\"stream-gap\",\"reason\":\"deleted\"}\n\n"
            .getBytes(StandardCharsets.UTF_8));
    exchange.close();
  }

  private static String items(String items) {
    return "{\"items\":[" + items + "]}";
  }

  private static void json(HttpExchange exchange, String body) throws IOException {
    send(exchange, 200, "application/json", body);
  }

  private static void send(HttpExchange exchange, int status, String type, String body)
      throws IOException {
    var bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
