package dev.parley.http;

import dev.parley.http.BlockingCall.JettyConnection;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// Writes replies to the wire.
final class ReplyWriter {

  private static final String JSON = "application/json";
  private static final String RETRY_SECONDS = "1";
  private static final String EXPOSED =
      "Location, Retry-After, Link, ETag, A2A-Extensions, X-Agent-Id, X-Next-Cursor, X-Total-Count";

  /// Clients of event streams expect this header. Jetty omits it in HTTP/1.1 if it recognizes the
  /// name.
  private static final HttpField KEEP_ALIVE = new HttpField(null, "Connection", "keep-alive");

  private final Response response;
  private final Callback callback;
  private final ErrorFormat form;
  private final DisconnectDetector disconnects;
  private final UnreadBody unreadBody;

  /// True if the whole request was read.
  private boolean bodyConsumed;

  ReplyWriter(
      Response response,
      Callback callback,
      ErrorFormat form,
      DisconnectDetector disconnects,
      Time time) {
    this.response = response;
    this.callback = callback;
    this.form = form;
    this.disconnects = disconnects;
    this.unreadBody = new UnreadBody(response.getRequest(), time);
  }

  /// A rejection as a reply, with the headers that go with it.
  static Reply reply(Rejection rejection) {
    return new Reply.Rejected(
        Problem.of(rejection),
        switch (rejection) {
          case Rejection.Unauthorized _ -> Map.of("WWW-Authenticate", "Bearer realm=\"parley\"");
          case Rejection.Busy _, Rejection.Unavailable _ -> Map.of("Retry-After", RETRY_SECONDS);
          case Rejection.Invalid _,
              Rejection.Forbidden _,
              Rejection.NotFound _,
              Rejection.Conflict _,
              Rejection.Stale _,
              Rejection.Gone _,
              Rejection.Damaged _,
              Rejection.TooLarge _ ->
              Map.of();
        });
  }

  /// Lets the page at this origin read the reply.
  void allow(Optional<String> origin) {
    response.getHeaders().put("Vary", "Origin");
    origin.ifPresent(
        page -> {
          response.getHeaders().put("Access-Control-Allow-Origin", page);
          response.getHeaders().put("Access-Control-Expose-Headers", EXPOSED);
        });
  }

  /// Tells browsers to use TLS for this host from now on, if this server terminates TLS.
  void requireTls(EdgeSettings edge, RequestSource source) {
    var tls = edge.tls();
    if (tls != null && source.encrypted() && tls.hsts().isPositive()) {
      response.getHeaders().put("Strict-Transport-Security", "max-age=" + tls.hsts().toSeconds());
    }
  }

  /// Writes the reply. A stream is written on the calling thread, unless it detaches its connection;
  /// `headOnly` omits it.
  void write(Reply reply, boolean headOnly) throws IOException {
    switch (reply) {
      case Reply.Json json -> body(json, JSON, Json.bytes(json.value()));
      case Reply.Rejected rejected -> {
        var json = form.body().apply(rejected.problem());
        body(rejected, form.contentType(), Json.bytes(json));
      }
      case Reply.Bytes bytes -> body(bytes, bytes.contentType(), bytes.bytes());
      case Reply.Empty empty -> {
        begin(empty);
        end(ByteBuffer.allocate(0));
      }
      case Reply.Stream stream -> stream(stream, headOnly);
      case Reply.Upgrade _ ->
          throw new IllegalArgumentException("an upgrade has no reply to write");
    }
  }

  private void body(Reply reply, String contentType, byte[] bytes) throws IOException {
    begin(reply);
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, contentType);
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, bytes.length);
    end(ByteBuffer.wrap(bytes));
  }

  private void stream(Reply.Stream stream, boolean headOnly) throws IOException {
    begin(stream);
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/event-stream");
    if (bodyConsumed) {
      response.getHeaders().add(KEEP_ALIVE);
    }
    // Streams have no idle timeout: they have heartbeats, or the configuration switches those off.
    response.getRequest().addIdleTimeoutListener(_ -> false);
    var detached = false;
    if (!headOnly) {
      try (var sink = new JettyStreamSink(response, disconnects)) {
        stream.events().run(sink);
        detached = sink.detached;
      }
    }
    if (!detached) {
      end(ByteBuffer.allocate(0));
    }
  }

  private void begin(Reply reply) {
    response.setStatus(reply.status());
    var headers = response.getHeaders();
    headers.put("X-Content-Type-Options", "nosniff");
    headers.put("Cross-Origin-Resource-Policy", "same-origin");
    headers.put("Cache-Control", "no-store");
    reply.headers().forEach(headers::put);
    bodyConsumed = unreadBody.skip();
    if (!bodyConsumed) {
      // Jetty closes the connection after such a reply. Without this header the caller would send
      // its next request on it.
      headers.put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE.asString());
    }
  }

  private void end(ByteBuffer bytes) throws IOException {
    if (bodyConsumed) {
      response.write(true, bytes, callback);
    } else {
      Content.Sink.write(response, true, bytes);
      unreadBody.drain();
      callback.succeeded();
    }
  }

  /// Writes frames to a connection, which is watched for a disconnect of its reader. For one thread.
  private static final class JettyStreamSink implements FrameStream.FrameSink, AutoCloseable {

    private final Response response;
    private final DisconnectDetector disconnects;
    private Runnable possiblyDisconnected = () -> {};
    private Runnable stopWatching = () -> {};
    private boolean detached;

    JettyStreamSink(Response response, DisconnectDetector disconnects) {
      this.response = response;
      this.disconnects = disconnects;
    }

    /// Only a request without a body can be detached: Jetty may hold a buffer for the others.
    @Override
    public Optional<FrameStream.DetachedSink> detach() {
      var headers = response.getRequest().getHeaders();
      if (headers.contains(HttpHeader.TRANSFER_ENCODING)
          || headers.contains(HttpHeader.CONTENT_LENGTH)) {
        return Optional.empty();
      }
      var connection = response.getRequest().getConnectionMetaData().getConnection();
      var sink = DetachedConnection.detach(connection, possiblyDisconnected, stopWatching);
      detached = sink.isPresent();
      return sink;
    }

    @Override
    public void write(ByteBuffer frames) throws IOException {
      Content.Sink.write(response, false, frames);
    }

    @Override
    public void onPossibleDisconnect(Runnable listener) {
      possiblyDisconnected = listener;
      stopWatching = JettyConnection.watch(response, disconnects, listener);
    }

    @Override
    public void close() {
      if (!detached) {
        stopWatching.run();
      }
    }
  }

  /// The unread rest of a request's body, when the reply does not depend on it. For one thread.
  ///
  /// If the server closes a connection while data is in transit, the connection is reset, and the
  /// caller, which is still sending, loses the reply. So after the reply the server reads and
  /// discards the rest, for a limited time.
  private static final class UnreadBody {

    /// How long to wait for the next data.
    private static final Duration QUIET = Duration.ofSeconds(1);

    private static final Duration LONGEST = Duration.ofSeconds(5);

    /// The limit of reads before the reply: a caller that sends without end must get its reply, too.
    private static final int READS_MAX = 64;

    private final Request request;
    private final Time time;

    UnreadBody(Request request, Time time) {
      this.request = request;
      this.time = time;
    }

    /// Discards the data that has arrived. False if more may follow.
    boolean skip() {
      for (var reads = 0; reads < READS_MAX; reads++) {
        var chunk = request.read();
        if (chunk == null) {
          return false;
        }
        if (isLast(chunk)) {
          return !Content.Chunk.isFailure(chunk);
        }
      }
      return false;
    }

    /// Discards data until the body ends or the time is up.
    void drain() {
      if (request.getHeaders().contains(HttpHeader.EXPECT)) {
        // The caller sends the body only after a `100 Continue`, which reading would cause.
        return;
      }
      var deadline = time.deadline(LONGEST);
      try {
        while (time.remaining(deadline) > 0) {
          var chunk = request.read();
          if (chunk != null && isLast(chunk)) {
            return;
          }
          if (chunk == null && !await()) {
            return;
          }
        }
      } catch (InterruptedException told) {
        Thread.currentThread().interrupt();
      }
    }

    private boolean await() throws InterruptedException {
      var wait = new CallbackWait();
      request.demand(wait::done);
      return wait.await(time, QUIET);
    }

    private static boolean isLast(Content.Chunk chunk) {
      chunk.release();
      return chunk.isLast() || Content.Chunk.isFailure(chunk);
    }
  }
}
