package dev.parley.embed;

import dev.parley.protocol.ReportEvent.ErrorCode;

/// The work failed. The message is for the user or the parent agent.
public final class WorkFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final boolean retryable;

  /// `retryable` if the same task may succeed another time.
  public WorkFailed(ErrorCode code, String message, boolean retryable) {
    super(message);
    this.code = code;
    this.retryable = retryable;
  }

  /// A failure that a retry does not fix.
  public WorkFailed(String message) {
    this(ErrorCode.TOOL_FAILED, message, false);
  }

  /// The kind of failure.
  public ErrorCode code() {
    return code;
  }

  /// True if the same task may succeed another time.
  public boolean retryable() {
    return retryable;
  }
}
