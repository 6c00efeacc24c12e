package dev.parley.model;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ToolCallId;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// A question to a model: who it is to be, what was said and done so far, what it may call.
public record Prompt(String instructions, List<Part> parts, List<ToolDescription> tools) {

  public Prompt {
    parts = List.copyOf(parts);
    tools = List.copyOf(tools);
  }

  /// One step of a conversation.
  public sealed interface Part {

    /// Somebody said something.
    record Said(Role role, String text) implements Part {}

    /// The model asked for tools, maybe with words.
    record Asked(String text, List<ToolCall> calls) implements Part {
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
