package dev.parley.door;

import java.util.HashMap;
import java.util.Map;

/// What a handler answers. One adapter writes all of them.
public sealed interface Reply {

  /// The status line's number.
  int status();

  /// Headers beyond those that the kind of reply brings by itself.
  Map<String, String> headers();

  /// A value as JSON.
  record Json(int status, Object value, Map<String, String> headers) implements Reply {
    public Json(int status, Object value) {
      this(status, value, Map.of());
    }
  }

  /// A problem as JSON.
  record Refused(Problem problem, Map<String, String> headers) implements Reply {
    public Refused(Problem problem) {
      this(problem, Map.of());
    }

    @Override
    public int status() {
      return problem.status();
    }
  }

  /// Nothing but a status.
  record Empty(int status, Map<String, String> headers) implements Reply {
    public Empty(int status) {
      this(status, Map.of());
    }
  }

  /// Bytes of any type.
  @SuppressWarnings("ArrayRecordComponent") // Never compared, and written as they are.
  record Bytes(int status, String contentType, byte[] bytes, Map<String, String> headers)
      implements Reply {
    public Bytes(String contentType, byte[] bytes) {
      this(200, contentType, bytes, Map.of());
    }
  }

  /// A WebSocket from now on; refused if the request asks for none.
  record Upgrade(Socket.Handler handler) implements Reply {
    @Override
    public int status() {
      return 101;
    }

    @Override
    public Map<String, String> headers() {
      return Map.of();
    }
  }

  /// Events, for as long as the reader stays.
  record Stream(EventStream events, Map<String, String> more) implements Reply {
    public Stream(EventStream events) {
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
