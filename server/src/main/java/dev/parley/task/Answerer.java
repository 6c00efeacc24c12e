package dev.parley.task;

import dev.parley.protocol.Rejection;
import org.jspecify.annotations.Nullable;

/// Who answers what a task asks, and whether they may approve.
///
/// Every way into [Tasks] that answers a question takes one of these instead of a name, so that no API can
/// answer without a decision about who may. APIs get theirs from `dev.parley.door.ApprovalPolicy`.
///
/// @param principal who answers, as events name them
/// @param whyNoApproval why this caller may answer questions but not approve tool calls or sign in; null if they may
public record Answerer(String principal, @Nullable String whyNoApproval) {

  /// The code of the rejection of a caller who may not approve.
  public static final String NOT_ALLOWED = "approval-not-allowed";

  /// One who may answer everything: for programs that answer in their own process.
  public static Answerer trusted(String principal) {
    return new Answerer(principal, null);
  }

  /// The same right for another principal.
  public Answerer as(String other) {
    return new Answerer(other, whyNoApproval);
  }

  /// Rejects a caller who may not approve tool calls or sign in.
  ///
  /// @throws Rejection.Forbidden `approval-not-allowed`
  public void checkApproval() {
    if (whyNoApproval != null) {
      throw new Rejection.Forbidden(NOT_ALLOWED, whyNoApproval);
    }
  }
}
