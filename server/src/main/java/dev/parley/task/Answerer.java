package dev.parley.task;

import dev.parley.protocol.Rejection;
import org.jspecify.annotations.Nullable;

/// The caller who answers a question, and whether the caller may approve.
///
/// Every method of [Tasks] that answers a question takes an `Answerer` instead of a name, so that
/// no API can answer without an authorization decision. APIs get theirs from `ApprovalPolicy`.
///
/// @param principal the caller, as recorded in events
/// @param whyNoApproval why this caller may answer questions but not approve tool calls or sign in;
///     null if the caller may
public record Answerer(String principal, @Nullable String whyNoApproval) {

  /// The code of the rejection when the caller may not approve.
  public static final String NOT_ALLOWED = "approval-not-allowed";

  /// A caller who may answer everything: for programs that answer in their own process.
  public static Answerer trusted(String principal) {
    return new Answerer(principal, null);
  }

  /// The same permission for another principal.
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
