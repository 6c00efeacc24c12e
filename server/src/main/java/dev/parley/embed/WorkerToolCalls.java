package dev.parley.embed;

import dev.parley.protocol.Json;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.task.TaskRun;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/// Events of the tool calls of a worker.
final class WorkerToolCalls {

  private static final int RESULT_BYTES_MAX = 64 * 1024;
  private static final int RESULT_SHOWN = 16 * 1024;

  private WorkerToolCalls() {}

  /// The idempotency key, which is the same for every attempt of a call.
  static String idempotencyKey(TaskRun taskRun, ToolCallId call) {
    return taskRun.origin().taskId() + "/" + call;
  }

  /// Writes the end of a call, unless the call was canceled.
  static void end(TaskRun taskRun, ToolCallId call, ToolComplete end) {
    taskRun.emit(
        state -> {
          var task = state.openTask(taskRun.origin().taskId());
          var open = task.isPresent() && task.get().openCalls().containsKey(call);
          return open ? List.of(end) : List.of();
        });
  }

  /// The result, truncated if it is too large, with a note.
  static JsonNode truncatedResult(JsonNode result) {
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
