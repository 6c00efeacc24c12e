package dev.parley.protocol;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A request for input, and its outcome.
public sealed interface InputEvent extends Event {

  /// A task needs input to continue.
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

    /// What the metadata says.
    public QuestionFacts facts() {
      return QuestionFacts.of(metadata);
    }
  }

  /// The input was given. `agentId` is the agent that gave it, if one did.
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

    /// What the metadata says.
    public AnswerFacts facts() {
      return AnswerFacts.of(metadata);
    }
  }

  /// The request for input expired or is no longer needed.
  record InputLapsed(InputId inputId, @Nullable String reason, @Nullable String principal)
      implements InputEvent {
    /// A request that no user dismissed.
    public InputLapsed(InputId inputId, @Nullable String reason) {
      this(inputId, reason, null);
    }
  }

  /// The kind of input that is requested.
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
