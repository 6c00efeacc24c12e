package dev.parley.protocol;

import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.InputEvent.InputType;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A request that waits for a person: `kind` is `input`, with an `inputId`, or `auth`, with an
/// `authId`.
///
/// `title` is the title of the context. The other fields are from the request event, which is at
/// `seq`.
public record PendingView(
    ContextId contextId,
    @Nullable String title,
    @Nullable TaskId taskId,
    @Nullable TaskId rootTaskId,
    @Nullable AgentTypeId agentId,
    String kind,
    long seq,
    Instant timestamp,
    String prompt,
    @Nullable InputId inputId,
    @Nullable InputType inputType,
    @Nullable Boolean requireUser,
    @Nullable JsonNode schema,
    @Nullable List<JsonNode> options,
    @Nullable AuthId authId,
    @Nullable AuthType authType,
    @Nullable String provider,
    @Nullable List<String> scopes,
    @Nullable String authUrl,
    @Nullable ObjectNode metadata,
    @Nullable Instant expiresAt) {

  public PendingView {
    schema = Json.present(schema);
    options = options == null ? null : List.copyOf(options);
    scopes = scopes == null ? null : List.copyOf(scopes);
  }

  /// The id of the question or sign-in, for the answer.
  public String id() {
    if (inputId != null) {
      return inputId.value();
    }
    return authId == null ? "" : authId.value();
  }
}
