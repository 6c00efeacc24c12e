package dev.parley.mcp;

import dev.parley.mcp.OAuthDiscovery.BearerChallenge;
import java.net.ConnectException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The reason why a server could not be used. The message names the server and is written for a
/// model.
final class McpFailure extends Exception {

  private static final long serialVersionUID = 1L;

  /// The kind of failure.
  enum FailureKind {
    /// The server is not available, or the connection was lost.
    UNAVAILABLE,
    /// The server did not respond in time.
    TIMED_OUT,
    /// The server responded with an error.
    REJECTED,
    /// The server no longer knows the session: nothing was done, and a new connection helps.
    SESSION_LOST,
    /// A sign-in is required.
    UNAUTHORIZED
  }

  private final FailureKind failureKind;
  private final transient @Nullable BearerChallenge bearerChallenge;

  private McpFailure(
      FailureKind failureKind, String message, @Nullable BearerChallenge bearerChallenge) {
    super(message, null, false, false);
    this.failureKind = failureKind;
    this.bearerChallenge = bearerChallenge;
  }

  McpFailure(FailureKind failureKind, String message) {
    this(failureKind, message, null);
  }

  static McpFailure unauthorized(String server, BearerChallenge bearerChallenge) {
    return new McpFailure(
        FailureKind.UNAUTHORIZED,
        "a sign-in is required for the MCP server " + server,
        bearerChallenge);
  }

  FailureKind kind() {
    return failureKind;
  }

  /// The challenge of the server, if a sign-in is required.
  BearerChallenge challenge() {
    return bearerChallenge == null ? BearerChallenge.NONE : bearerChallenge;
  }

  String text() {
    return String.valueOf(getMessage());
  }

  /// Creates failures of a server, with messages that a model can pass on.
  static final class McpFailureFactory {

    private static final int MESSAGE_MAX = 2_000;

    private final String server;
    private final McpTransport transport;

    McpFailureFactory(String server, McpTransport transport) {
      this.server = server;
      this.transport = transport;
    }

    /// The failure for an exception of a transport.
    McpFailure of(Throwable failure) {
      for (var cause = failure; cause != null; cause = cause.getCause()) {
        switch (cause) {
          case McpTransport.StatusException statusException
              when statusException.code() == 401 || statusException.code() == 403 -> {
            return unauthorized(statusException);
          }
          case McpTransport.StatusException statusException
              when statusException.isSessionLost() -> {
            return new McpFailure(
                FailureKind.SESSION_LOST, name() + " no longer knows the session");
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
              + transport.lastLines());
    }

    McpFailure timedOut(Duration patience) {
      return new McpFailure(
          FailureKind.TIMED_OUT,
          name() + " did not answer within " + patience.toMillis() + " ms" + transport.lastLines());
    }

    McpFailure rejected(String why) {
      return new McpFailure(
          FailureKind.REJECTED, name() + ": " + BoundedText.cut(why, MESSAGE_MAX));
    }

    private McpFailure unauthorized(McpTransport.StatusException refused) {
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
}
