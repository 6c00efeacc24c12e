package dev.parley.model;

import dev.parley.model.Prompt.Part;
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
sealed interface Turn {

  /// A system message in the middle of the conversation.
  record Note(String text) implements Turn {}

  record User(String text) implements Turn {}

  record Assistant(String text, List<ToolCall> calls, @Nullable JsonNode memo, List<Result> results)
      implements Turn {
    public Assistant {
      calls = List.copyOf(calls);
      results = List.copyOf(results);
    }
  }

  /// The result of a tool call.
  record Result(ToolCallId call, boolean success, String text) {
    String marked() {
      return success ? text : "Error: " + text;
    }
  }

  /// Returns the system prompt: the instructions, and the system messages at the start.
  static String top(Prompt prompt) {
    var words = new ArrayList<String>();
    words.add(prompt.instructions().strip());
    for (var part : prompt.parts().subList(0, begin(prompt.parts()))) {
      words.add(((Part.Said) part).text().strip());
    }
    return words.stream().filter(text -> !text.isEmpty()).collect(Collectors.joining("\n\n"));
  }

  /// Returns the steps after the system messages at the start.
  static List<Turn> of(Prompt prompt) {
    var parts = prompt.parts();
    var turns = new ArrayList<Turn>();
    var placed = new HashSet<Integer>();
    for (var i = begin(parts); i < parts.size(); i++) {
      switch (parts.get(i)) {
        case Part.Said(var role, var text) -> {
          if (!text.isBlank()) {
            switch (role) {
              case USER -> turns.add(new User(text));
              case ASSISTANT -> turns.add(new Assistant(text, List.of(), null, List.of()));
              case SYSTEM -> turns.add(new Note(text));
            }
          }
        }
        case Part.Asked asked -> turns.add(assistant(asked, parts, i, placed));
        case Part.Returned returned -> {
          if (!placed.contains(i)) {
            turns.add(new User("[" + returned.tool() + " returned: " + text(returned) + "]"));
          }
        }
      }
    }
    return turns;
  }

  /// Returns the index of the first part that is not a system message.
  private static int begin(List<Part> parts) {
    var begin = 0;
    while (begin < parts.size()
        && parts.get(begin) instanceof Part.Said(var role, _)
        && role == Role.SYSTEM) {
      begin++;
    }
    return begin;
  }

  private static Assistant assistant(
      Part.Asked asked, List<Part> parts, int at, Set<Integer> placed) {
    var results = new ArrayList<Result>();
    for (var call : asked.calls()) {
      var result = new Result(call.id(), false, "this call has no result");
      for (var i = at + 1; i < parts.size(); i++) {
        if (parts.get(i) instanceof Part.Returned returned
            && returned.call().equals(call.id())
            && placed.add(i)) {
          result = new Result(call.id(), returned.success(), text(returned));
          break;
        }
      }
      results.add(result);
    }
    return new Assistant(asked.text(), asked.calls(), asked.memo(), results);
  }

  private static String text(Part.Returned returned) {
    var result = returned.result();
    return result.isString() ? result.asString() : result.toString();
  }
}
