package dev.parley.tool;

import dev.parley.protocol.AuthEvent.AuthType;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

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

  /// A sign-in that a tool needs. The credential is stored under `provider`. It is never passed to
  /// the caller of the tool, and never written to an event.
  record ToolSignIn(
      AuthType type,
      String provider,
      List<String> scopes,
      String prompt,
      @Nullable String authUrl,
      @Nullable Duration timeout,
      @Nullable ObjectNode metadata) {

    public ToolSignIn {
      scopes = List.copyOf(scopes);
    }
  }
}
