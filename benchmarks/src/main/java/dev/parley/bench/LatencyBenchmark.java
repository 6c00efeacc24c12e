package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// The time from a message to its first event, and the time to open a long context.
///
/// The server is the real program in its own process. A first event is measured in three cases:
/// on a warm server, as the first request after a start, and while the projections catch up.
final class LatencyBenchmark implements Benchmark {

  private static final int WARM_UP_POSTS = 20;
  private static final int WARM_POSTS = 500;
  private static final double WARM_MILLIS = 1;
  private static final double FIRST_MILLIS = 5;
  private static final double CATCHING_UP_MILLIS = 3;
  private static final double P99_RATIO = 5;
  private static final double TOKEN_MILLIS = 1;
  private static final double REPLAY_EVENTS = 500_000;
  private static final Pattern COMMITS =
      Pattern.compile("(?m)^parley_commit_seconds_count (\\S+)$");
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
    var reportTable =
        new ReportTable("POST to first event", "p50 ms", "p99 ms", "posts")
            .row(row("while projections catch up", catchingUp(benchmarkReport)));
    var first = new LatencyHistogram();
    try (var temporaryFolder = TemporaryFolder.make()) {
      var context = newContext(temporaryFolder.path());
      for (var i = 0; i < runLength.firstRequests(); i++) {
        firstRequest(temporaryFolder.path(), context, first);
      }
    }
    reportTable.row(row("first request after a start", first));
    judge(benchmarkReport, "first request after a start", FIRST_MILLIS, first);
    try (var temporaryFolder = TemporaryFolder.make();
        var server = server(temporaryFolder.path())) {
      var url = url(server);
      // As many posts as it takes to compile the code that they run.
      post(url, Math.min(WARM_POSTS, 10 * runLength.posts()), "");
      var warm = post(url, runLength.posts(), "");
      reportTable.row(row("warm, nothing else to do", warm.firstEvent()));
      judge(benchmarkReport, "warm, nothing else to do", WARM_MILLIS, warm.firstEvent());
      var before = commits(url);
      var named = post(url, runLength.posts(), TasksBenchmark.NAMED);
      var commits = (commits(url) - before) / runLength.posts();
      reportTable.row(row("from there to the first token, named agent", named.toToken()));
      benchmarkReport.atMost(
          "first event to first token of a named agent, p50",
          TOKEN_MILLIS,
          named.toToken().millis(0.5),
          " ms");
      benchmarkReport.note(
          "Commits of the log for a whole task of a named agent: " + shown(commits));
    }
    benchmarkReport.note("");
    benchmarkReport.table(reportTable);
  }

  private static double commits(URI url) throws IOException {
    try (var httpConnection = new HttpConnection(url.getPort())) {
      var found = COMMITS.matcher(httpConnection.get("/metrics"));
      if (!found.find()) {
        throw new IOException("the metrics of the server have no number of commits");
      }
      return Double.parseDouble(found.group(1));
    }
  }

  private static String[] row(String name, LatencyHistogram times) {
    return new String[] {
      name, shown(times.millis(0.5)), shown(times.millis(0.99)), "%,d".formatted(times.count())
    };
  }

  private static void judge(
      BenchmarkReport benchmarkReport, String name, double wanted, LatencyHistogram times) {
    var what = "POST to first event, " + name;
    benchmarkReport.atMost(what + ", p50", wanted, times.millis(0.5), " ms");
    benchmarkReport.atMost(
        what + ", p99 against p50", P99_RATIO, times.millis(0.99) / times.millis(0.5), " x");
  }

  /// Posts to a server whose projections fold a long context at the same time; then opens that.
  private LatencyHistogram catchingUp(BenchmarkReport benchmarkReport)
      throws IOException, InterruptedException {
    try (var temporaryFolder = TemporaryFolder.make()) {
      var context = writeLong(temporaryFolder.path());
      try (var server = server(temporaryFolder.path())) {
        var url = url(server);
        post(url, WARM_UP_POSTS, "");
        var times = post(url, runLength.posts(), "").firstEvent();
        judge(benchmarkReport, "while projections catch up", CATCHING_UP_MILLIS, times);
        benchmarkReport.note("");
        open(benchmarkReport, url, context);
        return times;
      }
    }
  }

  /// The working directory of agents may not be in the data folder, so that is a folder of its own.
  private static BenchmarkProcess server(Path folder) throws IOException {
    var data = data(folder).toString();
    return BenchmarkProcess.program(List.of("serve", "--port", "0", "--data", data), folder);
  }

  private static Path data(Path folder) {
    return folder.resolve("data");
  }

  private static URI url(BenchmarkProcess server) throws IOException {
    return URI.create(server.await("Parley is ready: "));
  }

  private String newContext(Path folder) throws IOException, InterruptedException {
    try (var server = server(folder)) {
      return contextPath(url(server));
    }
  }

  private String contextPath(URI url) throws IOException, InterruptedException {
    var created = send(url, "/api/contexts", "{}");
    return "/api/contexts/" + Json.mapper().readTree(created).get("contextId").asString();
  }

  /// The first request of a server: a POST whose response streams the events.
  private static void firstRequest(Path folder, String context, LatencyHistogram times)
      throws IOException {
    try (var server = server(folder)) {
      var port = url(server).getPort();
      var begin = System.nanoTime();
      try (var stream =
          EventLines.post(port, context + "/messages", "{\"content\":\"say hello\"}")) {
        stream.await("task-created");
        times.add(System.nanoTime() - begin);
        stream.await("task-complete");
      }
    }
  }

  /// From the POST to its first event, and from there to the first token.
  private record PostTimes(LatencyHistogram firstEvent, LatencyHistogram toToken) {}

  /// Posts one message after the other. `more` has further fields of the request.
  private PostTimes post(URI url, int posts, String more) throws IOException, InterruptedException {
    var context = contextPath(url);
    var times = new PostTimes(new LatencyHistogram(), new LatencyHistogram());
    try (var stream = new EventLines(url.getPort(), context + "/stream")) {
      stream.await("stream-open");
      for (var i = 0; i < posts; i++) {
        var begin = System.nanoTime();
        var reply =
            http.sendAsync(
                request(url, context + "/messages", "{\"content\":\"say hello\"" + more + "}"),
                BodyHandlers.ofString());
        var _ = reply.thenAccept(answer -> endIfRejected(answer.statusCode(), stream));
        stream.await("message");
        var event = System.nanoTime();
        times.firstEvent().add(event - begin);
        stream.await("content-delta");
        times.toToken().add(System.nanoTime() - event);
        // A supervised task ends after that of its agent.
        stream.await("task-complete");
        if (more.isEmpty()) {
          stream.await("task-complete");
        }
        check(reply.join().statusCode());
      }
    }
    return times;
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
    var replayed = rate * replays.getFirst().bytesPerEvent();
    var size = (long) (replays.getFirst().bytesPerEvent() * context.events());
    staticFile(benchmarkReport, size)
        .ifPresent(
            speed ->
                benchmarkReport.note(
                    "A static file of the same size: %s MB/s; the replay has %s of this speed"
                        .formatted(shown(speed / 1e6), times(replayed / speed))));
    benchmarkReport.atMost("first event of a context of a million", 50, firstMillis, " ms");
    benchmarkReport.atLeast("replay", REPLAY_EVENTS, rate, " events/s");
    benchmarkReport.note("");
  }

  /// Bytes per second of a static file on Node, read by the same client.
  private Optional<Double> staticFile(BenchmarkReport benchmarkReport, long size)
      throws IOException, InterruptedException {
    if (!runLength.withNode()) {
      return Optional.empty();
    }
    var peer = NodePeer.install(NodePeer.NodeProgram.STATIC_FILE, benchmarkReport);
    if (peer.isEmpty()) {
      return Optional.empty();
    }
    try (var temporaryFolder = TemporaryFolder.make()) {
      var file = temporaryFolder.path().resolve("file");
      try (var sparse = new RandomAccessFile(file.toFile(), "rw")) {
        sparse.setLength(size);
      }
      try (var server = peer.get().start(file.toString())) {
        var port = Integer.parseInt(server.await("ready "));
        var speeds = new ArrayList<Double>();
        for (var i = 0; i < REPLAYS; i++) {
          speeds.add(ReplayRequest.bytesPerSecond(port, size));
        }
        return Optional.of(Median.of(speeds));
      }
    }
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

  /// Ends the wait for the events of a message that was rejected.
  private static void endIfRejected(int status, EventLines stream) {
    if (status >= 300) {
      try {
        stream.close();
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
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
    try (var log = ParleyAppender.open(data(folder), InstantSource.system())) {
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
