package dev.parley.embed;

import dev.parley.protocol.Json;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.task.Run;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/// Events of the tool calls of a worker.
final class Calls {

  private static final int RESULT_BYTES_MAX = 64 * 1024;
  private static final int RESULT_SHOWN = 16 * 1024;

  private Calls() {}

  /// The idempotency key, which is the same for every attempt of a call.
  static String key(Run run, ToolCallId call) {
    return run.origin().taskId() + "/" + call;
  }

  /// Writes the end of a call, unless the call was canceled.
  static void end(Run run, ToolCallId call, ToolComplete end) {
    run.emit(
        state -> {
          var task = state.openTask(run.origin().taskId());
          var open = task.isPresent() && task.get().openCalls().containsKey(call);
          return open ? List.of(end) : List.of();
        });
  }

  /// The result, truncated if it is too large, with a note.
  static JsonNode limited(JsonNode result) {
    var size = Json.bytes(result).length;
    if (size <= RESULT_BYTES_MAX) {
      return result;
    }
    var text = result.isString() ? result.asString() : result.toString();
    return StringNode.valueOf(
        text.substring(0, Math.min(text.length(), RESULT_SHOWN))
            + "\n[truncated: the result has "
            + size
            + " bytes, this is how it begins]");
  }
}
