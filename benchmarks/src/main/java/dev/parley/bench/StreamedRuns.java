package dev.parley.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/// Runs of a server that answers a POST with a stream of server-sent events, as a client sees them.
///
/// Parley and LangGraph's server both do, so that the same client measures both. A run ends with
/// the end of its response. Each has a connection of its own.
final class StreamedRuns {

  private final StreamingServer server;
  private final LatencyHistogram firstEvent = new LatencyHistogram();
  private final LatencyHistogram firstToken = new LatencyHistogram();
  private final LatencyHistogram whole = new LatencyHistogram();
  private final LongAdder runs = new LongAdder();

  /// A server: how a conversation is created and named, the path and the body of a run in it, and
  /// the name of the events that are tokens.
  record StreamingServer(
      int port,
      String createPath,
      String idField,
      String runPath,
      String body,
      String greeting,
      String token) {
    String runPath(String id) {
      return runPath.replace("ID", id);
    }
  }

  StreamedRuns(StreamingServer server) {
    this.server = server;
  }

  /// Runs one after another in each of `conversations`. Returns runs per second.
  double run(int conversations, Duration time) throws IOException, InterruptedException {
    var failure = new AtomicReference<IOException>();
    var threads = new ArrayList<Thread>();
    var begin = System.nanoTime();
    var before = runs.sum();
    for (var i = 0; i < conversations; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      converse(begin + time.toNanos());
                    } catch (IOException failed) {
                      failure.set(failed);
                    }
                  }));
    }
    for (var thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
    return (runs.sum() - before) * 1e9 / (System.nanoTime() - begin);
  }

  /// Forgets the times up to now.
  void clear() {
    firstEvent.clear();
    firstToken.clear();
    whole.clear();
  }

  LatencyHistogram firstEvent() {
    return firstEvent;
  }

  LatencyHistogram firstToken() {
    return firstToken;
  }

  LatencyHistogram whole() {
    return whole;
  }

  private void converse(long end) throws IOException {
    String id;
    try (var httpConnection = new HttpConnection(server.port())) {
      id = BenchmarkChat.field(httpConnection.post(server.createPath(), "{}"), server.idField());
    }
    do {
      try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        socket.setTcpNoDelay(true);
        run(socket, server.runPath(id));
        runs.increment();
      }
    } while (System.nanoTime() < end);
  }

  private void run(Socket socket, String path) throws IOException {
    var in =
        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    var begin = System.nanoTime();
    socket.getOutputStream().write(EventLines.postRequest(server.port(), path, server.body()));
    var events = 0;
    var tokens = 0;
    for (var line = in.readLine(); line != null; line = in.readLine()) {
      if (line.startsWith("event: ") && !line.equals("event: " + server.greeting())) {
        if (events++ == 0) {
          firstEvent.add(System.nanoTime() - begin);
        }
        if (line.equals("event: " + server.token()) && tokens++ == 0) {
          firstToken.add(System.nanoTime() - begin);
        }
      } else if (line.equals("0")) {
        // The end of the chunks.
        whole.add(System.nanoTime() - begin);
        if (tokens == 0) {
          throw new IOException("a run had no tokens");
        }
        return;
      }
    }
    throw new IOException("the server closed the connection during a run");
  }
}
