package dev.parley.agent;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.TextOrigin;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskRun;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolResult;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Creates the events for the start and the end of tool calls.
final class ToolCallEvents {

  private ToolCallEvents() {}

  static ToolStart start(
      TaskRun taskRun, ToolCallHistory history, @Nullable Tool tool, ObjectNode arguments) {
    var call = history.call();
    var edited = !arguments.equals(history.requestedArguments());
    var metadata =
        tool == null
            ? ToolCallFacts.ofStart("local", false, null)
            : ToolCallFacts.ofStart(tool.provider(), tool.concurrent(), tool.effect().wire());
    if (edited) {
      ToolCallFacts.putEdited(metadata);
    }
    return new ToolStart(
        call.id(),
        call.name(),
        edited ? arguments : call.arguments(),
        metadata,
        1,
        TaskOutput.idempotencyKey(taskRun, call.id()),
        null,
        null);
  }

  static ToolComplete done(ToolCall call, ToolResult.Done done, ObjectNode metadata) {
    return end(call, TaskOutput.truncated(done.result()), null, metadata, null);
  }

  static ToolComplete failed(ToolCall call, String error, @Nullable Outcome outcome) {
    return new ToolComplete(
        call.id(), call.name(), false, null, TaskOutput.truncated(error), null, outcome, null);
  }

  static ToolComplete of(ToolCall call, ToolResult result, long durationMillis, int retries) {
    return of(call, result, durationMillis, retries, Optional.empty());
  }

  /// The end of a call whose result comes from `origin`.
  static ToolComplete of(
      ToolCall call,
      ToolResult result,
      long durationMillis,
      int retries,
      Optional<TextOrigin> origin) {
    var metadata = Json.object().put("duration", durationMillis);
    origin.ifPresent(from -> ToolCallFacts.putOrigin(metadata, from));
    if (retries > 0) {
      metadata.put("retries", retries);
    }
    return switch (result) {
      case ToolResult.Done done -> done(call, done, metadata);
      case ToolResult.Failed(var message) ->
          end(call, null, TaskOutput.truncated(message), metadata, null);
      case ToolResult.NeedsAnswer _, ToolResult.NeedsSignIn _ ->
          throw new IllegalStateException("the call has not ended");
    };
  }

  /// The end of a call that other agents performed.
  static ToolComplete of(
      ToolCall call, ToolResult result, @Nullable SubagentMetadata subagents, long durationMillis) {
    var end = of(call, result, durationMillis, 0);
    return new ToolComplete(
        end.toolCallId(),
        end.toolName(),
        end.success(),
        end.result(),
        end.error(),
        end.metadata(),
        null,
        subagents);
  }

  private static ToolComplete end(
      ToolCall call,
      @Nullable JsonNode value,
      @Nullable String error,
      ObjectNode metadata,
      @Nullable Outcome outcome) {
    return new ToolComplete(
        call.id(), call.name(), error == null, value, error, metadata, outcome, null);
  }
}
