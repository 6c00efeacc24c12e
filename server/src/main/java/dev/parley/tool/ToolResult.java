package dev.parley.tool;

import tools.jackson.databind.JsonNode;

/// The result of a tool call.
public sealed interface ToolResult {

  /// The call succeeded.
  record Done(JsonNode result) implements ToolResult {}

  /// The call failed; the message is for the model.
  record Failed(String message) implements ToolResult {}

  /// The call needs an answer first, and has done nothing yet.
  ///
  /// The task is parked, if necessary across restarts. When there is an answer, or it is certain
  /// that there will be none, the tool is called again with the same arguments and finds the answer
  /// in its context.
  record NeedsAnswer(ToolQuestion question) implements ToolResult {}

  /// The call needs a sign-in first, and has done nothing yet; like [NeedsAnswer].
  record NeedsSignIn(ToolSignIn signIn) implements ToolResult {}
}
