package dev.parley.tool;

import tools.jackson.databind.JsonNode;

/// What a tool call came to.
public sealed interface ToolResult {

  /// It worked.
  record Done(JsonNode result) implements ToolResult {}

  /// It did not; the message is for the model.
  record Failed(String message) implements ToolResult {}
}
