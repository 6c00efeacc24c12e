package dev.parley.model;

import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// One step of a conversation in the form that providers require: no text is blank, and all results
/// of a turn's tool calls directly follow the calls.
sealed interface ModelTurn {

  /// A system message in the middle of the conversation.
  record SystemTurn(String text) implements ModelTurn {}

  record UserTurn(String text) implements ModelTurn {}

  record AssistantTurn(
      String text, List<ToolCall> calls, @Nullable JsonNode memo, List<ToolResultText> results)
      implements ModelTurn {
    public AssistantTurn {
      calls = List.copyOf(calls);
      results = List.copyOf(results);
    }
  }

  /// The result of a tool call.
  record ToolResultText(ToolCallId call, boolean success, String text) {
    String textWithError() {
      return success ? text : "Error: " + text;
    }
  }

  /// Returns the system prompt: the instructions, and the system messages at the start.
  static String systemText(Prompt prompt) {
    var words = new ArrayList<String>();
    words.add(prompt.instructions().strip());
    for (var promptPart : prompt.parts().subList(0, begin(prompt.parts()))) {
      words.add(((PromptPart.PromptMessage) promptPart).text().strip());
    }
    return words.stream().filter(text -> !text.isEmpty()).collect(Collectors.joining("\n\n"));
  }

  /// Returns the steps after the system messages at the start.
  static List<ModelTurn> of(Prompt prompt) {
    var parts = prompt.parts();
    var turns = new ArrayList<ModelTurn>();
    var placed = new HashSet<Integer>();
    for (var i = begin(parts); i < parts.size(); i++) {
      switch (parts.get(i)) {
        case PromptPart.PromptMessage(var role, var text) -> {
          if (!text.isBlank()) {
            switch (role) {
              case USER -> turns.add(new UserTurn(text));
              case ASSISTANT -> turns.add(new AssistantTurn(text, List.of(), null, List.of()));
              case SYSTEM -> turns.add(new SystemTurn(text));
            }
          }
        }
        case PromptPart.PromptToolCalls promptToolCalls ->
            turns.add(assistant(promptToolCalls, parts, i, placed));
        case PromptPart.PromptToolResult promptToolResult -> {
          if (!placed.contains(i)) {
            turns.add(
                new UserTurn(
                    "[" + promptToolResult.tool() + " returned: " + text(promptToolResult) + "]"));
          }
        }
      }
    }
    return turns;
  }

  /// Returns the index of the first part that is not a system message.
  private static int begin(List<PromptPart> parts) {
    var begin = 0;
    while (begin < parts.size()
        && parts.get(begin) instanceof PromptPart.PromptMessage(var role, _)
        && role == Role.SYSTEM) {
      begin++;
    }
    return begin;
  }

  private static AssistantTurn assistant(
      PromptPart.PromptToolCalls promptToolCalls,
      List<PromptPart> parts,
      int at,
      Set<Integer> placed) {
    var results = new ArrayList<ToolResultText>();
    for (var call : promptToolCalls.calls()) {
      var toolResultText = new ToolResultText(call.id(), false, "this call has no result");
      for (var i = at + 1; i < parts.size(); i++) {
        if (parts.get(i) instanceof PromptPart.PromptToolResult promptToolResult
            && promptToolResult.call().equals(call.id())
            && placed.add(i)) {
          toolResultText =
              new ToolResultText(call.id(), promptToolResult.success(), text(promptToolResult));
          break;
        }
      }
      results.add(toolResultText);
    }
    return new AssistantTurn(
        promptToolCalls.text(), promptToolCalls.calls(), promptToolCalls.memo(), results);
  }

  private static String text(PromptPart.PromptToolResult promptToolResult) {
    var result = promptToolResult.result();
    return result.isString() ? result.asString() : result.toString();
  }
}
