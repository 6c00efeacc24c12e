package dev.parley.external.a2a;

import dev.parley.a2a.A2aError;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.task.TaskOutcome;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/// A request to a remote agent failed.
final class A2aFailure extends Exception {

  @Serial private static final long serialVersionUID = 1L;

  /// What is known about the failed request.
  enum A2aFailureKind {
    /// It did not reach the agent.
    UNREACHABLE,
    /// It may have reached the agent.
    LOST,
    /// The agent rejected it, or its response cannot be used.
    REFUSED
  }

  private final A2aFailureKind a2aFailureKind;
  private final @Nullable A2aError error;
  private final ErrorCode code;
  private final boolean retryable;

  private A2aFailure(
      A2aFailureKind a2aFailureKind,
      @Nullable A2aError error,
      ErrorCode code,
      boolean retryable,
      String message) {
    super(message, null, false, false);
    this.a2aFailureKind = a2aFailureKind;
    this.error = error;
    this.code = code;
    this.retryable = retryable;
  }

  static A2aFailure unreachable(String why) {
    return new A2aFailure(
        A2aFailureKind.UNREACHABLE, null, ErrorCode.INTERNAL, true, "it cannot be reached: " + why);
  }

  static A2aFailure lost(ErrorCode code, String why) {
    return new A2aFailure(A2aFailureKind.LOST, null, code, true, why);
  }

  /// It cannot be determined whether the agent started the task.
  static A2aFailure unknown(String why) {
    return new A2aFailure(A2aFailureKind.REFUSED, null, ErrorCode.INTERRUPTED, true, why);
  }

  /// The agent's response cannot be used.
  static A2aFailure unusable(String why) {
    return new A2aFailure(A2aFailureKind.REFUSED, null, ErrorCode.INTERNAL, false, why);
  }

  /// The request was not sent because it would expose a secret.
  static A2aFailure unsafe(String why) {
    return new A2aFailure(A2aFailureKind.REFUSED, null, ErrorCode.AUTH, false, why);
  }

  static A2aFailure tooLarge(String why) {
    return new A2aFailure(A2aFailureKind.REFUSED, null, ErrorCode.LIMIT, false, why);
  }

  /// The agent answered with an HTTP error status.
  static A2aFailure status(int status, @Nullable A2aError error, String said) {
    var code =
        switch (status) {
          case 401, 403 -> ErrorCode.AUTH;
          case 429 -> ErrorCode.RATE_LIMITED;
          default -> status < 500 ? ErrorCode.INVALID_INPUT : ErrorCode.INTERNAL;
        };
    return new A2aFailure(
        A2aFailureKind.REFUSED,
        error,
        code,
        status == 429 || status >= 500,
        "it answered " + status + (said.isBlank() ? "" : ": " + said.strip()));
  }

  /// The agent answered with a protocol error.
  static A2aFailure refused(@Nullable A2aError error, String said) {
    var internal = error == A2aError.INTERNAL || error == null;
    return new A2aFailure(
        A2aFailureKind.REFUSED,
        error,
        internal ? ErrorCode.INTERNAL : ErrorCode.INVALID_INPUT,
        internal,
        "it refused: " + said.strip());
  }

  A2aFailureKind kind() {
    return a2aFailureKind;
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
  boolean retryable() {
    return retryable;
  }

  String message() {
    return String.valueOf(getMessage());
  }

  TaskOutcome.Failed outcome(String agent) {
    return new TaskOutcome.Failed(code, "the agent behind " + agent + ": " + message(), retryable);
  }
}
