package dev.parley.app;

import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Formats tool calls as lines of a chat. For one thread.
final class ToolCallLines {

  private static final int NAME_MAX = 40;
  private static final int SUMMARY_MAX = 60;
  private static final int ERROR_MAX = 120;

  /// Arguments that summarize a call, the best first.
  private static final List<String> SUMMARY_ARGUMENTS =
      List.of("command", "query", "expression", "path", "url", "pattern", "name", "prompt");

  private record Started(ToolStart call, Instant at) {}

  private final Map<String, Started> running = new HashMap<>();

  void start(ToolStart call, Instant at) {
    running.put(call.toolCallId().value(), new Started(call, at));
  }

  /// One line for a call that has ended; none if it only started sub-agents, which have lines of
  /// their own.
  List<String> end(ToolComplete complete, Instant now) {
    var start = running.remove(complete.toolCallId().value());
    var hands = complete.subagentMetadata() != null || (start != null && spawns(start.call()));
    if (hands) {
      return List.of();
    }
    var line =
        (complete.success() ? "✓ " : "✗ ")
            + TextSanitizer.line(complete.toolName(), NAME_MAX)
            + (start == null ? "" : summary(start.call().arguments()))
            + took(start, now)
            + (complete.success() ? "" : error(complete));
    return List.of(line);
  }

  /// The result of a call that has ended, in full.
  List<String> verboseEnd(ToolComplete complete, Instant now) {
    var start = running.remove(complete.toolCallId().value());
    var took = start == null ? "" : " " + HumanUnits.between(start.at(), now);
    var result =
        complete.result() == null
            ? ""
            : " " + TextSanitizer.line(complete.result().toString(), Integer.MAX_VALUE);
    return List.of(
        complete.success() ? "  ok" + took + result : "  failed" + took + error(complete));
  }

  private static boolean spawns(ToolStart call) {
    return call.subagentMetadata() != null;
  }

  private static String took(@Nullable Started start, Instant now) {
    return start == null ? "" : ", " + HumanUnits.between(start.at(), now);
  }

  private static String error(ToolComplete complete) {
    return complete.error() == null ? "" : ": " + TextSanitizer.line(complete.error(), ERROR_MAX);
  }

  private static String summary(ObjectNode arguments) {
    for (var name : SUMMARY_ARGUMENTS) {
      if (arguments.path(name).isString()) {
        return " " + TextSanitizer.line(arguments.path(name).asString(), SUMMARY_MAX);
      }
    }
    var words = arguments.valueStream().filter(JsonNode::isString).findFirst();
    var text =
        words.map(JsonNode::asString).orElse(arguments.isEmpty() ? "" : arguments.toString());
    return text.isBlank() ? "" : " " + TextSanitizer.line(text, SUMMARY_MAX);
  }
}
