package dev.parley.model;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ToolCallId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A request to a model: instructions, the conversation so far, and the tools that it may call.
///
/// With an `answerSchema` the answer is one JSON value that matches the schema, and nothing else.
public record Prompt(
    String instructions,
    List<PromptPart> parts,
    List<ToolDescription> tools,
    @Nullable ObjectNode answerSchema) {

  public Prompt {
    parts = List.copyOf(parts);
    tools = List.copyOf(tools);
  }

  /// One part of a conversation.
  public sealed interface PromptPart {

    /// A message.
    record PromptMessage(Role role, String text) implements PromptPart {}

    /// The model's tool calls, with text that may be empty. `memo` is returned to the model: see
    /// [ModelReply.ModelAnswer].
    record PromptToolCalls(String text, List<ToolCall> calls, @Nullable JsonNode memo)
        implements PromptPart {
      public PromptToolCalls {
        calls = List.copyOf(calls);
      }
    }

    /// The result of a tool call, or the error if it failed.
    record PromptToolResult(ToolCallId call, String tool, boolean success, JsonNode result)
        implements PromptPart {}
  }

  /// A tool that the model may call.
  public record ToolDescription(String name, String description, ObjectNode schema) {}
}
