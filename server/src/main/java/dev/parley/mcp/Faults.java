package dev.parley.mcp;

import dev.parley.mcp.Trouble.Kind;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import java.net.ConnectException;
import java.time.Duration;

/// Creates failures of a server, with messages that a model can pass on.
final class Faults {

  private static final int MESSAGE_MAX = 2_000;

  private final String server;
  private final Wire wire;

  Faults(String server, Wire wire) {
    this.server = server;
    this.wire = wire;
  }

  /// The failure for an exception of a transport.
  Trouble of(Throwable failure) {
    for (var cause = failure; cause != null; cause = cause.getCause()) {
      switch (cause) {
        case HttpTransport.Status status when status.code() == 401 || status.code() == 403 -> {
          return unauthorized(status);
        }
        case HttpTransport.Status status when status.forgotten() -> {
          return new Trouble(Kind.FORGOTTEN, name() + " no longer knows the session");
        }
        case ConnectException _ -> {
          return gone("no connection could be made");
        }
        default -> {}
      }
    }
    return gone(String.valueOf(failure.getMessage()));
  }

  Trouble gone(String why) {
    return new Trouble(
        Kind.GONE,
        name() + " is not available: " + Text.cut(why, MESSAGE_MAX) + wire.lastLines().get());
  }

  Trouble silent(Duration patience) {
    return new Trouble(
        Kind.SILENT,
        name() + " did not answer within " + patience.toMillis() + " ms" + wire.lastLines().get());
  }

  Trouble refused(String why) {
    return new Trouble(Kind.REFUSED, name() + ": " + Text.cut(why, MESSAGE_MAX));
  }

  Trouble refused(JSONRPCError error) {
    return refused("error " + error.code() + ": " + error.message());
  }

  private Trouble unauthorized(HttpTransport.Status refused) {
    var challenge = Challenge.of(refused.code(), refused.headers().allValues("WWW-Authenticate"));
    return challenge.wantsSignIn()
        ? Trouble.unauthorized(server, challenge)
        : refused("access was denied (status " + refused.code() + ")");
  }

  private String name() {
    return "the MCP server " + server;
  }
}
