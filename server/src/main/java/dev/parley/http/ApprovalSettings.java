package dev.parley.http;

import java.util.Set;

/// Settings that decide who may approve tool calls, answer questions and sign in.
///
/// @param strict approvals need a token, and a caller that is known not to be a child process of
/// the server
/// @param a2aCallers principals that may approve over A2A; others may only answer questions there
/// @param noApprovals principals that may never approve
/// @param ownProcess requests from the server's own process count as requests of a person; for
/// programs that embed the server
public record ApprovalSettings(
    boolean strict, Set<String> a2aCallers, Set<String> noApprovals, boolean ownProcess) {

  /// The defaults.
  public static final ApprovalSettings DEFAULTS =
      new ApprovalSettings(false, Set.of(), Set.of(), true);

  public ApprovalSettings {
    a2aCallers = Set.copyOf(a2aCallers);
    noApprovals = Set.copyOf(noApprovals);
  }

  /// The same settings for a standalone server, where requests from its own process are not a
  /// person's.
  public ApprovalSettings standalone() {
    return new ApprovalSettings(strict, a2aCallers, noApprovals, false);
  }
}
