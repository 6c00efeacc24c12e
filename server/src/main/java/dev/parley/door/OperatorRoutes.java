package dev.parley.door;

import dev.parley.log.EventLog;
import dev.parley.protocol.EventSchema;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BooleanSupplier;

/// What operators and the curious ask for: health, metrics, schemas, and what this is.
public final class OperatorRoutes {

  private static final String HELLO =
      """
      Parley: a multi-agent server. Every conversation is a log that nothing is lost from.

        curl -X POST {url}/api/contexts -H 'Content-Type: application/json' -d '{"contextId":"hello"}'
        curl -X POST {url}/api/contexts/hello/messages -H 'Content-Type: application/json' -d '{"content":"help"}'
        curl -N {url}/api/contexts/hello/stream

      Everything that can be asked: {url}/openapi.json
      """;

  /// How the server is.
  public record Health(String status) {}

  private final EventLog log;
  private final Metrics metrics;
  private final BooleanSupplier stopping;

  public OperatorRoutes(EventLog log, Metrics metrics, BooleanSupplier stopping) {
    this.log = log;
    this.metrics = metrics;
    this.stopping = stopping;
  }

  /// The routes.
  public List<Route> routes() {
    var schema = Json.bytes(EventSchema.document());
    return List.of(
        Route.get("/", "What this is", Answer.other("text/plain"), this::hello),
        Route.get(
            "/healthz",
            "Says that the process runs",
            Answer.one(Health.class),
            _ -> new Reply.Json(200, new Health("ok"))),
        Route.get("/readyz", "Says whether work is taken", Answer.one(Health.class), _ -> ready()),
        Route.get(
            "/metrics",
            "Numbers for Prometheus",
            Answer.other("text/plain"),
            _ -> new Reply.Bytes("text/plain; version=0.0.4; charset=utf-8", metrics.text())),
        Route.get(
            "/schemas/events.json",
            "The JSON Schema of every event",
            Answer.other("application/schema+json"),
            _ -> new Reply.Bytes("application/schema+json", schema)));
  }

  private Reply hello(Request request) {
    var url = "http://" + request.header("Host").orElse("127.0.0.1:7070");
    var text = HELLO.replace("{url}", url).getBytes(StandardCharsets.UTF_8);
    return new Reply.Bytes("text/plain; charset=utf-8", text);
  }

  private Reply ready() {
    if (stopping.getAsBoolean()) {
      throw new Rejection.Unavailable("the server is stopping");
    }
    if (!log.writable()) {
      throw new Rejection.Unavailable("the store cannot be written");
    }
    log.changes(Long.MAX_VALUE, 1);
    return new Reply.Json(200, new Health("ready"));
  }
}
