package dev.parley.bench;

import static dev.parley.bench.BenchmarkReport.shown;
import static dev.parley.bench.BenchmarkReport.times;

import dev.parley.http.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/// Requests and stream openings of a server that checks who is calling and encrypts what it stores,
/// relative to one that does neither. Two real servers take turns, so that other load on the machine affects both.
final class AuthBenchmark implements Benchmark {

  private static final int CLIENTS = 4;
  private static final int CONTEXTS = 20;
  private static final double RATIO_MIN = 0.9;
  private static final int KEY_BYTES = 32;
  private static final String TOKEN = "benchmark-token";

  private final RunLength runLength;

  AuthBenchmark(RunLength runLength) {
    this.runLength = runLength;
  }

  /// A server, the header that its clients send, and the rates that were measured.
  private record Contender(
      String name,
      BenchmarkServer server,
      String header,
      List<Double> requests,
      List<Double> streams) {

    Contender(String name, BenchmarkServer server, String header) {
      this(name, server, header, new ArrayList<>(), new ArrayList<>());
    }

    HttpConnection connect() throws IOException {
      return new HttpConnection(server.port(), header);
    }
  }

  /// An action of a client; `index` counts its actions.
  private interface Action {
    void run(HttpConnection connection, int index) throws IOException;
  }

  @Override
  public String name() {
    return "auth";
  }

  @Override
  public void run(BenchmarkReport benchmarkReport) throws IOException, InterruptedException {
    benchmarkReport.title("A server that checks every request, relative to one that does not");
    try (var folder = TemporaryFolder.make();
        var off = BenchmarkServer.start(folder, "off", List.of());
        var on = BenchmarkServer.start(folder, "on", configuration(folder.path()), List.of())) {
      var contenders =
          List.of(
              new Contender("off", off, ""),
              new Contender("on", on, "Authorization: Bearer " + TOKEN + "\r\n"));
      for (var contender : contenders) {
        fill(contender);
        measure(contender, runLength.warmUp());
        contender.requests().clear();
        contender.streams().clear();
      }
      for (var turn = 0; turn < runLength.turns(); turn++) {
        for (var contender : contenders) {
          measure(contender, runLength.turn());
        }
      }
      print(benchmarkReport, contenders);
    }
  }

  /// A configuration in which every request is authenticated and checked by the policy, and in which
  /// the content of contexts is encrypted.
  private static String configuration(Path folder) throws IOException {
    var key = Base64.getEncoder().encodeToString(new byte[KEY_BYTES]);
    var masterKey = folder.resolve("master.key");
    Files.createFile(
        masterKey,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(masterKey, key);
    return """
    auth:
      tokens:
        - {name: bench, sha256: "%s"}
        - {name: other, sha256: "%s"}
    encryption: {masterKey: {file: "%s"}}
    vault: {key: "%s"}
    """
        .formatted(hash(TOKEN), hash("other"), masterKey, key);
  }

  private static String hash(String token) {
    return HexFormat.of().formatHex(Sha256.of(token));
  }

  /// Creates the contexts that are read.
  private static void fill(Contender contender) throws IOException {
    try (var connection = contender.connect()) {
      for (var i = 0; i < CONTEXTS; i++) {
        connection.post("/api/contexts", "{\"contextId\":\"c" + i + "\",\"title\":\"Context\"}");
      }
    }
  }

  private static void measure(Contender contender, Duration duration) {
    contender
        .requests()
        .add(rate(contender, duration, (http, i) -> http.get(context(i) + "/snapshot")));
    contender
        .streams()
        .add(rate(contender, duration, (http, i) -> http.openStream(context(i) + "/stream")));
  }

  private static String context(int index) {
    return "/api/contexts/c" + index % CONTEXTS;
  }

  /// The number of actions per second of all clients together.
  private static double rate(Contender contender, Duration duration, Action action) {
    var began = System.nanoTime();
    var end = began + duration.toNanos();
    var clients = new ArrayList<CompletableFuture<Integer>>();
    for (var i = 0; i < CLIENTS; i++) {
      clients.add(
          CompletableFuture.supplyAsync(
              () -> repeat(contender, end, action), Thread::startVirtualThread));
    }
    var count = clients.stream().mapToInt(CompletableFuture::join).sum();
    return count / ((System.nanoTime() - began) / 1e9);
  }

  private static int repeat(Contender contender, long end, Action action) {
    var count = 0;
    try (var connection = contender.connect()) {
      do {
        action.run(connection, count++);
      } while (System.nanoTime() < end);
    } catch (IOException failed) {
      throw new CompletionException(failed);
    }
    return count;
  }

  private static void print(BenchmarkReport benchmarkReport, List<Contender> contenders) {
    var table = new ReportTable("median of all turns, per second", "requests", "stream openings");
    for (var contender : contenders) {
      table.row(
          contender.name(),
          shown(Median.of(contender.requests())),
          shown(Median.of(contender.streams())));
    }
    benchmarkReport.table(table);
    var off = contenders.getFirst();
    var on = contenders.getLast();
    var requests = Median.of(ratios(on.requests(), off.requests()));
    var streams = Median.of(ratios(on.streams(), off.streams()));
    benchmarkReport.note("on against off: " + times(requests) + ", " + times(streams));
    benchmarkReport.atLeast("requests/s with checks, against without", RATIO_MIN, requests, " x");
    benchmarkReport.atLeast(
        "stream openings/s with checks, against without", RATIO_MIN, streams, " x");
  }

  /// The ratio of each turn.
  private static List<Double> ratios(List<Double> on, List<Double> off) {
    var ratios = new ArrayList<Double>();
    for (var turn = 0; turn < on.size(); turn++) {
      ratios.add(on.get(turn) / off.get(turn));
    }
    return ratios;
  }
}
