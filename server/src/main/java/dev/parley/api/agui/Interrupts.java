package dev.parley.api.agui;

import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.Json;
import dev.parley.protocol.Timestamps;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Encodes a task's questions to people as the interrupts of a run.
final class Interrupts {

  private Interrupts() {}

  /// True if the question asks the client to run a tool, which is not an interrupt.
  static boolean isToolCall(OpenQuestion question) {
    return question.input() != null && question.input().inputType() == InputType.TOOL_EXECUTION;
  }

  /// The interrupt for a question; `owner` is the sub-agent that asks, or null.
  static ObjectNode of(ContextId context, OpenQuestion question, @Nullable String owner) {
    var json = Json.object().put("id", question.id().value());
    if (question.input() != null) {
      input(json, question.input());
    } else if (question.auth() != null) {
      auth(json, context, question.auth());
    }
    Json.putPresent(json, "subagentRunId", owner);
    return json;
  }

  private static void input(ObjectNode json, InputRequired input) {
    json.put("reason", reason(input)).put("message", input.prompt());
    input.facts().toolCallId().ifPresent(call -> json.put("toolCallId", call.value()));
    schema(input).ifPresent(schema -> json.set("responseSchema", schema));
    if (input.expiresAt() != null) {
      json.put("expiresAt", Timestamps.format(input.expiresAt()));
    }
    var about = json.putObject("metadata").put("inputType", input.inputType().wire());
    if (input.options() != null) {
      input.options().forEach(about.putArray("options")::add);
    }
    about.setAll(input.facts().shown());
  }

  private static String reason(InputRequired input) {
    if (input.inputType() != InputType.CONFIRMATION) {
      return "input_required";
    }
    return input.facts().toolCallId().isPresent() ? "tool_call" : "confirmation";
  }

  private static Optional<ObjectNode> schema(InputRequired input) {
    if (input.inputType() == InputType.CONFIRMATION) {
      var schema = Json.object().put("type", "object");
      var fields = schema.putObject("properties");
      fields.putObject("approved").put("type", "boolean");
      fields.putObject("reason").put("type", "string");
      var arguments = input.facts().argumentsSchema().orElse(null);
      fields.set(
          ResumeAnswers.EDITED,
          arguments instanceof ObjectNode known ? known : Json.object().put("type", "object"));
      schema.putArray("required").add("approved");
      return Optional.of(schema);
    }
    if (input.schema() instanceof ObjectNode schema) {
      return Optional.of(schema);
    }
    if (input.options() != null) {
      var schema = Json.object();
      input.options().forEach(schema.putArray("enum")::add);
      return Optional.of(schema);
    }
    return input.inputType() == InputType.CLARIFICATION
        ? Optional.of(Json.object().put("type", "string"))
        : Optional.empty();
  }

  private static void auth(ObjectNode json, ContextId context, AuthRequired auth) {
    json.put("reason", "auth_required").put("message", auth.prompt());
    auth.facts().toolCallId().ifPresent(call -> json.put("toolCallId", call.value()));
    if (auth.expiresAt() != null) {
      json.put("expiresAt", Timestamps.format(auth.expiresAt()));
    }
    var about = json.putObject("metadata").put("authType", auth.authType().wire());
    Json.putPresent(about, "provider", auth.provider());
    Json.putPresent(about, "authUrl", auth.authUrl());
    // Secrets are sent to the native API, which stores them; AG-UI never carries them.
    about.put("signInAt", "/api/contexts/" + context + "/auths/" + auth.authId());
  }
}
