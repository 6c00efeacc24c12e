package dev.parley.protocol;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An agent asks for something and gets it, or does not.
public sealed interface InputEvent extends Event {

  /// An agent needs input to go on.
  record InputRequired(
      InputId inputId,
      @Nullable Boolean requireUser,
      InputType inputType,
      String prompt,
      @Nullable JsonNode schema,
      @Nullable List<JsonNode> options,
      @Nullable ObjectNode metadata,
      @Nullable Instant expiresAt)
      implements InputEvent {
    public InputRequired {
      schema = Json.present(schema);
      options = options == null ? null : List.copyOf(options);
    }
  }

  /// Input was given; `agentId` is the agent that gave it, if one did.
  record InputReceived(
      InputId inputId,
      Provider providedBy,
      @Nullable String userId,
      @Nullable AgentTypeId agentId,
      @Nullable ObjectNode metadata,
      @Nullable JsonNode value)
      implements InputEvent {
    public InputReceived {
      value = Json.present(value);
    }
  }

  /// Nobody gave the input in time, or it is no longer wanted. `principal` is the person who gave it up, if one did.
  record InputLapsed(InputId inputId, @Nullable String reason, @Nullable String principal)
      implements InputEvent {
    /// Given up by nobody.
    public InputLapsed(InputId inputId, @Nullable String reason) {
      this(inputId, reason, null);
    }
  }

  /// What is asked for.
  enum InputType implements WireName {
    TOOL_EXECUTION,
    CONFIRMATION,
    CLARIFICATION,
    SELECTION,
    CUSTOM,
    DATA
  }

  /// Who gave the input.
  enum Provider implements WireName {
    USER,
    AGENT
  }
}
