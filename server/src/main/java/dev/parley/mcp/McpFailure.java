package dev.parley.mcp;

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
}
