package dev.parley.http;

import java.util.HashMap;
import java.util.Map;

/// The reply of a handler. One adapter writes all of them.
public sealed interface Reply {

  /// The HTTP status.
  int status();

  /// Headers besides those that the kind of reply adds itself.
  Map<String, String> headers();

  /// A value as JSON.
  record Json(int status, Object value, Map<String, String> headers) implements Reply {
    public Json(int status, Object value) {
      this(status, value, Map.of());
    }
  }

  /// A problem as JSON.
  record Rejected(Problem problem, Map<String, String> headers) implements Reply {
    public Rejected(Problem problem) {
      this(problem, Map.of());
    }

    @Override
    public int status() {
      return problem.status();
    }
  }

  /// A status without a body.
  record Empty(int status, Map<String, String> headers) implements Reply {
    public Empty(int status) {
      this(status, Map.of());
    }
  }

  /// Bytes of any type.
  @SuppressWarnings("ArrayRecordComponent") // Never compared, and written unchanged.
  record Bytes(int status, String contentType, byte[] bytes, Map<String, String> headers)
      implements Reply {
    public Bytes(String contentType, byte[] bytes) {
      this(200, contentType, bytes, Map.of());
    }
  }

  /// An upgrade to a WebSocket; rejected if the request does not ask for one.
  record Upgrade(WebSocketConnection.WebSocketHandler handler) implements Reply {
    @Override
    public int status() {
      return 101;
    }

    @Override
    public Map<String, String> headers() {
      return Map.of();
    }
  }

  /// A stream of events, until it ends or the reader disconnects.
  record Stream(FrameStream events, Map<String, String> more) implements Reply {
    public Stream(FrameStream events) {
      this(events, Map.of());
    }

    @Override
    public int status() {
      return 200;
    }

    @Override
    public Map<String, String> headers() {
      var headers = new HashMap<>(more);
      headers.put("Cache-Control", "no-cache");
      headers.put("X-Accel-Buffering", "no");
      return headers;
    }
  }
}
