package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;

/// The time from a message to its first event, and the time to open a long context.
///
/// The server is the real program in its own process, on an otherwise idle machine.
final class LatencyBenchmark implements Benchmark {

  private static final int WARM_UP_POSTS = 20;
  private static final int ANSWER_EVENTS = 1_000;
  private static final int REPLAYS = 3;

  private final RunLength runLength;
  private final SampleText sampleText = new SampleText();
  private final HttpClient http = HttpClient.newHttpClient();

  LatencyBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  @Override
  public String name() {
    return "latency";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("From POST to the first event, and opening a context of many events");
    try (var temporaryFolder = TemporaryFolder.make()) {
      var context = writeLong(temporaryFolder.path());
      try (var server =
          BenchmarkProcess.server(
              dev.parley.app.Main.class,
              "serve",
              "--port",
              "0",
              "--data",
              temporaryFolder.path().toString())) {
        var url = URI.create(server.await("Parley is ready: "));
        post(benchmarkReport, url);
        open(benchmarkReport, url, context);
      }
    }
  }

  private void post(BenchmarkReport benchmarkReport, URI url)
      throws IOException, InterruptedException {
    var created = send(url, "/api/contexts", "{}");
    var context = "/api/contexts/" + Json.mapper().readTree(created).get("contextId").asString();
    var times = new LatencyHistogram();
    try (var stream = new EventLines(url.getPort(), context + "/stream")) {
      stream.await("stream-open");
      for (var i = 0; i < WARM_UP_POSTS + runLength.posts(); i++) {
        if (i == WARM_UP_POSTS) {
          times.clear();
        }
        var begin = System.nanoTime();
        var reply =
            http.sendAsync(
                request(url, context + "/messages", "{\"content\":\"say hello\"}"),
                BodyHandlers.ofString());
        stream.await("message");
        times.add(System.nanoTime() - begin);
        stream.await("task-complete");
        reply.join();
      }
    }
    benchmarkReport.table(
        new ReportTable(runLength.posts() + " posts, one after the other", "p50 ms", "p99 ms")
            .row("POST to first event", shown(times.millis(0.5)), shown(times.millis(0.99))));
    benchmarkReport.atMost("POST to first event, p50", 5, times.millis(0.5), " ms");
    benchmarkReport.note("");
  }

  private void open(BenchmarkReport benchmarkReport, URI url, LongContext context)
      throws IOException, InterruptedException {
    var path = "/api/contexts/" + context.id();
    // At the first request the views read the whole context once.
    var first = snapshotMillis(url, path);
    var again = snapshotMillis(url, path);
    var replays = new ArrayList<ReplayRequest>();
    for (var i = 0; i < REPLAYS; i++) {
      replays.add(ReplayRequest.read(url.getPort(), path + "/stream", context.events()));
    }
    var firstMillis = Median.of(replays.stream().map(ReplayRequest::firstMillis).toList());
    var rate = Median.of(replays.stream().map(ReplayRequest::eventsPerSecond).toList());
    benchmarkReport.table(
        new ReportTable("%,d events".formatted(context.events()), "measured")
            .row("first event of the stream, ms", shown(firstMillis))
            .row("replay, events/s", shown(rate))
            .row("replay, MB/s", shown(rate * replays.getFirst().bytesPerEvent() / 1e6))
            .row("snapshot, ms", shown(again))
            .row("first snapshot after writing past the views, ms", shown(first)));
    benchmarkReport.atMost("first event of a context of a million", 50, firstMillis, " ms");
    benchmarkReport.atLeast("replay", 200_000, rate, " events/s");
  }

  private double snapshotMillis(URI url, String path) throws IOException, InterruptedException {
    var begin = System.nanoTime();
    var request = HttpRequest.newBuilder(url.resolve(path + "/snapshot")).build();
    check(http.send(request, BodyHandlers.ofString()).statusCode());
    return (System.nanoTime() - begin) / 1e6;
  }

  private String send(URI url, String path, String body) throws IOException, InterruptedException {
    var reply = http.send(request(url, path, body), BodyHandlers.ofString());
    check(reply.statusCode());
    return reply.body();
  }

  private static void check(int status) throws IOException {
    if (status >= 300) {
      throw new IOException("the server answered " + status);
    }
  }

  private static HttpRequest request(URI url, String path, String body) {
    return HttpRequest.newBuilder(url.resolve(path))
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(body))
        .build();
  }

  private record LongContext(ContextId id, int events) {}

  /// Writes a context of answers with a thousand events each.
  private LongContext writeLong(Path folder) {
    try (var log = ParleyAppender.open(folder, InstantSource.system())) {
      var benchmarkContext = BenchmarkContext.begin(log);
      var events = 3;
      for (var answer = 0; events < runLength.replayEvents(); answer++) {
        var texts = new ArrayList<String>();
        for (var i = 0; i < ANSWER_EVENTS - 5; i++) {
          texts.add(sampleText.piece(answer, i));
        }
        benchmarkContext.appendText(0, texts);
        events += ANSWER_EVENTS;
        var more = events < runLength.replayEvents();
        benchmarkContext.end(String.join("", texts), more);
      }
      return new LongContext(benchmarkContext.context(), events - 2);
    }
  }
}
