package dev.parley.model;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ToolCallId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A question to a model: who it is to be, what was said and done so far, what it may call.
///
/// With an `answerSchema` the answer is one JSON value that fits it, and nothing else.
public record Prompt(
    String instructions,
    List<Part> parts,
    List<ToolDescription> tools,
    @Nullable ObjectNode answerSchema) {

  public Prompt {
    parts = List.copyOf(parts);
    tools = List.copyOf(tools);
  }

  /// One step of a conversation.
  public sealed interface Part {

    /// Somebody said something.
    record Said(Role role, String text) implements Part {}

    /// The model asked for tools, maybe with words. `memo` is what it wants back: see [Reply.Answered].
    record Asked(String text, List<ToolCall> calls, @Nullable JsonNode memo) implements Part {
      public Asked {
        calls = List.copyOf(calls);
      }
    }

    /// A tool gave a result; if it failed, the result says why.
    record Returned(ToolCallId call, String tool, boolean success, JsonNode result)
        implements Part {}
  }

  /// A tool that the model may call.
  public record ToolDescription(String name, String description, ObjectNode schema) {}
}
