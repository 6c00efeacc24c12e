package dev.parley.tool;

import dev.parley.protocol.AuthEvent.AuthType;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A sign-in that a tool needs. The credential is stored under `provider`. It is never passed to
/// the caller of the tool, and never written to an event.
public record ToolSignIn(
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
