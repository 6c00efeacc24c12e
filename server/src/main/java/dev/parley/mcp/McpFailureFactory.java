package dev.parley.mcp;

import dev.parley.mcp.McpFailure.FailureKind;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import java.net.ConnectException;
import java.time.Duration;

/// Creates failures of a server, with messages that a model can pass on.
final class McpFailureFactory {

  private static final int MESSAGE_MAX = 2_000;

  private final String server;
  private final McpChannel mcpChannel;

  McpFailureFactory(String server, McpChannel mcpChannel) {
    this.server = server;
    this.mcpChannel = mcpChannel;
  }

  /// The failure for an exception of a transport.
  McpFailure of(Throwable failure) {
    for (var cause = failure; cause != null; cause = cause.getCause()) {
      switch (cause) {
        case HttpTransport.StatusException statusException
            when statusException.code() == 401 || statusException.code() == 403 -> {
          return unauthorized(statusException);
        }
        case HttpTransport.StatusException statusException when statusException.isSessionLost() -> {
          return new McpFailure(FailureKind.SESSION_LOST, name() + " no longer knows the session");
        }
        case ConnectException _ -> {
          return unavailable("no connection could be made");
        }
        default -> {}
      }
    }
    return unavailable(String.valueOf(failure.getMessage()));
  }

  McpFailure unavailable(String why) {
    return new McpFailure(
        FailureKind.UNAVAILABLE,
        name()
            + " is not available: "
            + BoundedText.cut(why, MESSAGE_MAX)
            + mcpChannel.lastLines().get());
  }

  McpFailure timedOut(Duration patience) {
    return new McpFailure(
        FailureKind.TIMED_OUT,
        name()
            + " did not answer within "
            + patience.toMillis()
            + " ms"
            + mcpChannel.lastLines().get());
  }

  McpFailure rejected(String why) {
    return new McpFailure(FailureKind.REJECTED, name() + ": " + BoundedText.cut(why, MESSAGE_MAX));
  }

  McpFailure rejected(JSONRPCError error) {
    return rejected("error " + error.code() + ": " + error.message());
  }

  private McpFailure unauthorized(HttpTransport.StatusException refused) {
    var bearerChallenge =
        BearerChallenge.of(refused.code(), refused.headers().allValues("WWW-Authenticate"));
    return bearerChallenge.requiresSignIn()
        ? McpFailure.unauthorized(server, bearerChallenge)
        : rejected("access was denied (status " + refused.code() + ")");
  }

  private String name() {
    return "the MCP server " + server;
  }
}
