package dev.parley.tool;

import dev.parley.protocol.AuthEvent.AuthType;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A sign-in that a tool needs. The credential goes to the vault under `provider`, never to the tool's
/// caller, and never into an event.
public record SignIn(
    AuthType type,
    String provider,
    List<String> scopes,
    String prompt,
    @Nullable String authUrl,
    @Nullable Duration timeout,
    @Nullable ObjectNode metadata) {

  public SignIn {
    scopes = List.copyOf(scopes);
  }
}
