package dev.parley.door;

import java.util.Set;

/// Who may approve tool calls, answer questions and sign in.
///
/// @param strict approvals need a token, and a caller that is known not to be a child of the server
/// @param a2aCallers principals that may approve over A2A; others may only answer questions there
/// @param noApprovals principals that may never approve
/// @param ownProcess requests that come from the server's own process count as a person's: for programs that embed it
public record ApprovalSettings(
    boolean strict, Set<String> a2aCallers, Set<String> noApprovals, boolean ownProcess) {

  /// What holds unless the configuration says otherwise.
  public static final ApprovalSettings USUAL =
      new ApprovalSettings(false, Set.of(), Set.of(), true);

  public ApprovalSettings {
    a2aCallers = Set.copyOf(a2aCallers);
    noApprovals = Set.copyOf(noApprovals);
  }

  /// The same for a program that is only the server: nothing in its own process is a person.
  public ApprovalSettings standalone() {
    return new ApprovalSettings(strict, a2aCallers, noApprovals, false);
  }
}
