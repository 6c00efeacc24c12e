package dev.parley.a2a.remote;

import dev.parley.a2a.A2aError;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.task.Outcome;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A request to a remote agent failed.
final class Trouble extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  /// What is known about the failed request.
  enum Kind {
    /// It did not reach the agent.
    UNREACHABLE,
    /// It may have reached the agent.
    LOST,
    /// The agent rejected it, or its response cannot be used.
    REFUSED
  }

  private final Kind kind;
  private final @Nullable A2aError error;
  private final ErrorCode code;
  private final boolean retryable;

  private Trouble(
      Kind kind, @Nullable A2aError error, ErrorCode code, boolean retryable, String message) {
    super(message, null, false, false);
    this.kind = kind;
    this.error = error;
    this.code = code;
    this.retryable = retryable;
  }

  static Trouble unreachable(String why) {
    return new Trouble(
        Kind.UNREACHABLE, null, ErrorCode.INTERNAL, true, "it cannot be reached: " + why);
  }

  static Trouble lost(ErrorCode code, String why) {
    return new Trouble(Kind.LOST, null, code, true, why);
  }

  /// It cannot be determined whether the agent started the task.
  static Trouble unknown(String why) {
    return new Trouble(Kind.REFUSED, null, ErrorCode.INTERRUPTED, true, why);
  }

  /// The agent's response cannot be used.
  static Trouble unusable(String why) {
    return new Trouble(Kind.REFUSED, null, ErrorCode.INTERNAL, false, why);
  }

  /// The request was not sent because it would expose a secret.
  static Trouble unsafe(String why) {
    return new Trouble(Kind.REFUSED, null, ErrorCode.AUTH, false, why);
  }

  static Trouble tooLarge(String why) {
    return new Trouble(Kind.REFUSED, null, ErrorCode.LIMIT, false, why);
  }

  /// The agent answered with an HTTP error status.
  static Trouble status(int status, @Nullable A2aError error, String said) {
    var code =
        switch (status) {
          case 401, 403 -> ErrorCode.AUTH;
          case 429 -> ErrorCode.RATE_LIMITED;
          default -> status < 500 ? ErrorCode.INVALID_INPUT : ErrorCode.INTERNAL;
        };
    return new Trouble(
        Kind.REFUSED,
        error,
        code,
        status == 429 || status >= 500,
        "it answered " + status + (said.isBlank() ? "" : ": " + said.strip()));
  }

  /// The agent answered with a protocol error.
  static Trouble refused(@Nullable A2aError error, String said) {
    var internal = error == A2aError.INTERNAL || error == null;
    return new Trouble(
        Kind.REFUSED,
        error,
        internal ? ErrorCode.INTERNAL : ErrorCode.INVALID_INPUT,
        internal,
        "it refused: " + said.strip());
  }

  Kind kind() {
    return kind;
  }

  /// True if the failure is one of these errors.
  boolean is(A2aError... some) {
    for (var one : some) {
      if (error == one) {
        return true;
      }
    }
    return false;
  }

  /// True if the same request may succeed later.
  boolean passing() {
    return retryable;
  }

  String said() {
    return String.valueOf(getMessage());
  }

  Outcome.Failed outcome(String agent) {
    return new Outcome.Failed(code, "the agent behind " + agent + ": " + said(), retryable);
  }
}
