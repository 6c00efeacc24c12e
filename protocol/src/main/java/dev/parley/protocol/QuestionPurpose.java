package dev.parley.protocol;

/// The purpose of a question.
public enum QuestionPurpose implements WireName {
  /// Approval of a tool call.
  APPROVAL,
  /// Input that the tool needs; the call returned and is made again with the answer.
  NEED,
  /// The call may have run before a crash: ask whether to run it again.
  DOUBT,
  /// Input that the tool waits for while it runs. Only the process that asked can use the answer.
  LIVE,
  /// A confirmation that the person has signed in at a remote agent.
  SIGN_IN
}
