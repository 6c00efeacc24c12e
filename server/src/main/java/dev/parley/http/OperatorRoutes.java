package dev.parley.http;

import dev.parley.identity.Action;
import dev.parley.log.EventLog;
import dev.parley.protocol.EncryptionView;
import dev.parley.protocol.EventSchema;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Routes for operators: health, metrics, schemas.
public final class OperatorRoutes {

  /// Loaded at the first request, because most servers are never asked for it.
  private static final class EncodedSchema {
    private static final byte[] BYTES = Json.bytes(EventSchema.document());
  }

  /// The state of the server.
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
    return List.of(
        health(),
        readiness(this::ready),
        metrics(metrics),
        Route.get(
                "/api/encryption",
                "Returns how many contexts are encrypted",
                ResponseDescription.one(EncryptionView.class),
                _ -> new Reply.Json(200, encryption()))
            .doing(Action.OPERATE),
        Route.withoutBody(
                Route.Method.POST,
                "/api/encryption/rotations",
                "Begins to wrap the keys of all contexts with the current master key",
                ResponseDescription.one(EncryptionView.class),
                _ -> {
                  log.rotateKeys();
                  return new Reply.Json(202, encryption());
                })
            .doing(Action.OPERATE),
        Route.get(
            "/schemas/events.json",
            "Returns the JSON Schema of every event",
            ResponseDescription.other("application/schema+json"),
            _ -> new Reply.Bytes("application/schema+json", EncodedSchema.BYTES)));
  }

  private static Route health() {
    return Route.get(
        "/healthz",
        "Reports that the process runs",
        ResponseDescription.one(Health.class),
        _ -> new Reply.Json(200, new Health("ok")));
  }

  private static Route readiness(Supplier<Reply> ready) {
    return Route.get(
        "/readyz",
        "Reports whether the server is ready",
        ResponseDescription.one(Health.class),
        _ -> ready.get());
  }

  private static Route metrics(Metrics metrics) {
    return Route.get(
            "/metrics",
            "Returns metrics for Prometheus",
            ResponseDescription.other("text/plain"),
            _ -> new Reply.Bytes("text/plain; version=0.0.4; charset=utf-8", metrics.text()))
        .doing(Action.OPERATE);
  }

  /// The routes of a server that forwards all other requests. `ready` throws a [Rejection] if it is
  /// not ready.
  public static List<Route> ofStandby(Metrics metrics, Supplier<Reply> ready) {
    return List.of(health(), readiness(ready), metrics(metrics));
  }

  private EncryptionView encryption() {
    return log.encryption()
        .orElseThrow(() -> new Rejection.NotFound("this log cannot be encrypted"));
  }

  private Reply ready() {
    if (stopping.getAsBoolean()) {
      throw new Rejection.Unavailable("the server is stopping");
    }
    log.outage()
        .ifPresent(
            reason -> {
              throw new Rejection.Unavailable("the log cannot be written: " + reason);
            });
    log.changes(Long.MAX_VALUE, 1);
    return new Reply.Json(200, new Health("ready"));
  }
}
