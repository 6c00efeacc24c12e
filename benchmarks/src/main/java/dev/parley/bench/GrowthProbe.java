package dev.parley.bench;

import dev.parley.protocol.ContextId;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// Times requests to a server that holds much data, over HTTP, one after another.
final class GrowthProbe {

  private static final int ROUNDS = 20;
  private static final int CATCH_UP_SECONDS_MAX = 1_800;

  private final int port;
  private final List<ContextId> contexts;
  private final Map<GrowthMeasure, LatencyHistogram> times = new EnumMap<>(GrowthMeasure.class);

  GrowthProbe(int port, List<ContextId> contexts) {
    this.port = port;
    this.contexts = contexts;
  }

  /// Seconds until the first list: the projections catch up with the log before it is answered. The
  /// server rejects a list that has waited for 10 seconds; then the next one follows.
  double firstListSeconds() throws IOException {
    var begin = System.nanoTime();
    while (!listed()) {
      if (seconds(begin) > CATCH_UP_SECONDS_MAX) {
        throw new IOException("no list of contexts within " + CATCH_UP_SECONDS_MAX + " s");
      }
    }
    return seconds(begin);
  }

  private boolean listed() throws IOException {
    try {
      list();
      return true;
    } catch (HttpConnection.NotReadyException catchingUp) {
      return false;
    }
  }

  private static double seconds(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }

  /// The median of each measure, in milliseconds. The first round warms up.
  Map<GrowthMeasure, Double> measure() throws IOException {
    for (var round = 0; round <= ROUNDS; round++) {
      if (round == 1) {
        times.values().forEach(LatencyHistogram::clear);
      }
      round(contexts.get((int) ((long) round * contexts.size() / (ROUNDS + 1))));
    }
    var medians = new EnumMap<GrowthMeasure, Double>(GrowthMeasure.class);
    times.forEach((measure, histogram) -> medians.put(measure, histogram.millis(0.5)));
    return medians;
  }

  private void round(ContextId context) throws IOException {
    var path = "/api/contexts/" + context;
    var begin = System.nanoTime();
    list();
    record(GrowthMeasure.LIST, begin);
    try (var httpConnection = new HttpConnection(port)) {
      begin = System.nanoTime();
      httpConnection.get(path + "/snapshot");
      record(GrowthMeasure.OPEN, begin);
      begin = System.nanoTime();
      try (var stream = new EventLines(port, path + "/stream")) {
        stream.await("context-created");
        record(GrowthMeasure.FIRST_EVENT, begin);
      }
      message(httpConnection, path);
    }
  }

  private void message(HttpConnection httpConnection, String path) throws IOException {
    var position = BenchmarkChat.field(httpConnection.get(path), "position");
    try (var stream =
        new EventLines(port, path + "/stream?kinds=message,task-complete&after=" + position)) {
      stream.await("stream-open");
      var begin = System.nanoTime();
      httpConnection.post(
          path + "/messages", "{\"content\":\"say hello\"" + TasksBenchmark.NAMED + "}");
      record(GrowthMeasure.APPEND, begin);
      stream.await("message");
      record(GrowthMeasure.MESSAGE_EVENT, begin);
      stream.await("task-complete");
    }
  }

  private void list() throws IOException {
    try (var httpConnection = new HttpConnection(port)) {
      httpConnection.get("/api/contexts?limit=50");
    }
  }

  private void record(GrowthMeasure measure, long begin) {
    times.computeIfAbsent(measure, _ -> new LatencyHistogram()).add(System.nanoTime() - begin);
  }
}
