package dev.parley.mcp;

import org.jspecify.annotations.Nullable;

/// Why a server could not be used. The message names the server and is for a model to read.
final class Trouble extends Exception {

  private static final long serialVersionUID = 1L;

  /// What kind of trouble.
  enum Kind {
    /// It is not there, or went away.
    GONE,
    /// It did not answer in time.
    SILENT,
    /// It answered with an error.
    REFUSED,
    /// It no longer knows us: nothing was done, and a new connection helps.
    FORGOTTEN,
    /// Somebody has to sign in.
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
        Kind.UNAUTHORIZED, "somebody has to sign in to the MCP server " + server, challenge);
  }

  Kind kind() {
    return kind;
  }

  /// What the server said when it refused, if it wants somebody to sign in.
  Challenge challenge() {
    return challenge == null ? Challenge.NONE : challenge;
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
