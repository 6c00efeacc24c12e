package dev.parley.client;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.TaskId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A question or sign-in that waits for a person: `kind` is `input`, with an `inputId`, or `auth`,
/// with an `authId`.
public record InboxItem(
    ContextId contextId,
    @Nullable TaskId taskId,
    String kind,
    String prompt,
    @Nullable InputId inputId,
    @Nullable InputType inputType,
    @Nullable List<JsonNode> options,
    @Nullable AuthId authId,
    @Nullable AuthType authType,
    @Nullable String authUrl,
    @Nullable AgentTypeId agentId,
    @Nullable ObjectNode metadata,
    @Nullable Instant expiresAt,
    @Nullable JsonNode schema) {

  public InboxItem {
    schema = schema == null || schema.isNull() ? null : schema;
    options = options == null ? null : List.copyOf(options);
  }

  /// The id of the question or sign-in, for the answer.
  public String id() {
    if (inputId != null) {
      return inputId.value();
    }
    return authId == null ? "" : authId.value();
  }
}
