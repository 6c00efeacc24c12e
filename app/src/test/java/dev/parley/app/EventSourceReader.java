package dev.parley.app;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Reads server-sent events like a browser: when the connection is lost, or silent for too long, it
/// connects again with the last id.
///
/// Runs on a virtual thread of its own until it is closed, or the handler or the server ends it.
final class EventSourceReader implements AutoCloseable {

  private static final int CONNECT_MILLIS = 3_000;

  /// Several heartbeats.
  private static final int SILENCE_MILLIS = 6_000;

  private static final Duration RETRY = Duration.ofMillis(100);

  /// A frame with data.
  record Frame(@Nullable String id, @Nullable String event, String data) {}

  /// Takes what arrives. The methods are called on the thread of the reader.
  interface FrameHandler {

    /// Takes a frame; false ends the reader.
    boolean take(Frame frame);

    /// The server rejected the request.
    void rejected(int status);
  }

  private final Supplier<URI> servers;
  private final String path;
  private final FrameHandler handler;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread;
  private volatile @Nullable String lastId;

  /// Reads `path` of one of `servers`, after the id `after` if there is one.
  EventSourceReader(
      Supplier<URI> servers, String path, @Nullable String after, FrameHandler handler) {
    this.servers = servers;
    this.path = path;
    this.lastId = after;
    this.handler = handler;
    this.thread = Thread.ofVirtual().start(this::run);
  }

  private void run() {
    try {
      do {
        try {
          if (!connect(servers.get())) {
            return;
          }
        } catch (IOException lost) {
          // As the test intends.
        }
      } while (!closed.await(RETRY.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// True if the reader shall connect again.
  private boolean connect(URI server) throws IOException {
    var opened = (HttpURLConnection) server.resolve(path).toURL().openConnection();
    opened.setConnectTimeout(CONNECT_MILLIS);
    opened.setReadTimeout(SILENCE_MILLIS);
    opened.setRequestProperty("Accept", "text/event-stream");
    var after = lastId;
    if (after != null) {
      opened.setRequestProperty("Last-Event-ID", after);
    }
    try {
      var status = opened.getResponseCode();
      if (status == HttpURLConnection.HTTP_GONE) {
        return false;
      }
      if (status != HttpURLConnection.HTTP_OK) {
        handler.rejected(status);
        return true;
      }
      try (var lines =
          new BufferedReader(
              new InputStreamReader(opened.getInputStream(), StandardCharsets.UTF_8))) {
        return read(lines);
      }
    } finally {
      opened.disconnect();
    }
  }

  private boolean read(BufferedReader lines) throws IOException {
    String id = null;
    String event = null;
    String data = null;
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("id: ")) {
        id = line.substring("id: ".length());
      } else if (line.startsWith("event: ")) {
        event = line.substring("event: ".length());
      } else if (line.startsWith("data: ")) {
        data = line.substring("data: ".length());
      } else if (line.isEmpty()) {
        if (data != null && closed.getCount() > 0 && !handler.take(new Frame(id, event, data))) {
          return false;
        }
        if (id != null) {
          lastId = id;
        }
        id = null;
        event = null;
        data = null;
      }
    }
    return true;
  }

  /// Ends the reader, soon.
  void stop() {
    closed.countDown();
    // This closes the socket of a virtual thread.
    thread.interrupt();
  }

  /// Ends the reader and waits for its thread.
  @Override
  public void close() {
    stop();
    try {
      thread.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
