package dev.parley.mcp;

import org.jspecify.annotations.Nullable;

/// The reason why a server could not be used. The message names the server and is written for a
/// model.
final class Trouble extends Exception {

  private static final long serialVersionUID = 1L;

  /// The kind of failure.
  enum Kind {
    /// The server is not available, or the connection was lost.
    GONE,
    /// The server did not respond in time.
    SILENT,
    /// The server responded with an error.
    REFUSED,
    /// The server no longer knows the session: nothing was done, and a new connection helps.
    FORGOTTEN,
    /// A sign-in is required.
    UNAUTHORIZED
  }

  private final Kind kind;
  private final transient @Nullable Challenge challenge;

  private Trouble(Kind kind, String message, @Nullable Challenge challenge) {
    super(message, null, false, false);
    this.kind = kind;
    this.challenge = challenge;
  }

  Trouble(Kind kind, String message) {
    this(kind, message, null);
  }

  static Trouble unauthorized(String server, Challenge challenge) {
    return new Trouble(
        Kind.UNAUTHORIZED, "a sign-in is required for the MCP server " + server, challenge);
  }

  Kind kind() {
    return kind;
  }

  /// The challenge of the server, if a sign-in is required.
  Challenge challenge() {
    return challenge == null ? Challenge.NONE : challenge;
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
