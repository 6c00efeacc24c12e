package dev.parley.mcp;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A connection to a server that carries messages, over pipes or HTTP. Safe for many threads.
interface McpTransport extends AutoCloseable {

  /// Receives what the server sends. It must not block the calling thread.
  interface Receiver {

    /// A message. `origin` is that of the message whose response contains this one, or empty if the
    /// transport does not know it.
    void onMessage(McpMessage message, String origin);

    /// The connection failed. If `over` is false, it may still work.
    void onFailure(IOException failure, boolean over);
  }

  /// A message that is being sent.
  interface Sending {

    /// Cancels the rest, with the response to it.
    void cancel();
  }

  /// The server responded with an error status; `known` if the request contained a session id.
  final class StatusException extends IOException {
    private static final long serialVersionUID = 1L;
    private final int code;
    private final boolean known;
    private final transient HttpHeaders headers;

    StatusException(int code, HttpHeaders headers, boolean known, String text) {
      super("it answered with status " + code + (text.isEmpty() ? "" : ": " + text));
      this.code = code;
      this.known = known;
      this.headers = headers;
    }

    int code() {
      return code;
    }

    HttpHeaders headers() {
      return headers;
    }

    /// True if the server no longer knows the session. Some servers respond with 400 in this case.
    boolean isSessionLost() {
      return known && (code == 404 || code == 400);
    }
  }

  /// Opens the connection.
  void open(Receiver receiver) throws IOException;

  /// Sends a message. `origin` is passed on with the messages of the server that belong to it.
  /// `done` is called when the response has been received, with the failure if there was one.
  Sending send(McpMessage message, String origin, Consumer<@Nullable IOException> done);

  /// The protocol versions that it supports, the newest last.
  List<String> versions();

  /// The version that was negotiated.
  void setVersion(String version);

  /// The last lines of the server that are not messages, as the end of an error message.
  String lastLines();

  @Override
  void close();
}
