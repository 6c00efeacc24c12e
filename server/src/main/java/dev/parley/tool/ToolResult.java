package dev.parley.tool;

import tools.jackson.databind.JsonNode;

/// What a tool call came to.
public sealed interface ToolResult {

  /// It worked.
  record Done(JsonNode result) implements ToolResult {}

  /// It did not; the message is for the model.
  record Failed(String message) implements ToolResult {}

  /// It needs an answer first, and has done nothing yet.
  ///
  /// The task is parked, across restarts if need be. Once there is an answer, or it is known that none
  /// will come, the tool is called again with the same arguments and finds it in its context.
  record Needs(Question question) implements ToolResult {}

  /// It needs somebody to sign in first, and has done nothing yet; like [Needs].
  record NeedsSignIn(SignIn signIn) implements ToolResult {}
}
