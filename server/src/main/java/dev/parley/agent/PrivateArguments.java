package dev.parley.agent;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.tool.Tool;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Keeps private arguments of tool calls out of public events; see [Tool#privateArguments].
///
/// All public events have the calls without them, so that they are the same for every reader. The
/// checkpoint of the turn, which is internal and in the same append, has the complete arguments:
/// the model and the tool get these, also after a crash.
final class PrivateArguments {

  /// In the state of a checkpoint: the complete arguments of calls, by the id of the call.
  private static final String KEY = "arguments";

  private PrivateArguments() {}

  /// The call as public events show it.
  static ToolCall publicCall(ToolCall call, @Nullable Tool tool) {
    var hidden = tool == null ? List.<String>of() : tool.privateArguments(call.arguments());
    return hidden.isEmpty()
        ? call
        : new ToolCall(call.id(), call.name(), call.arguments().deepCopy().remove(hidden));
  }

  /// Adds the complete arguments of those calls whose public form lacks some.
  static void put(ObjectNode state, List<ToolCall> calls, List<ToolCall> publicCalls) {
    var complete = Json.object();
    for (var i = 0; i < calls.size(); i++) {
      if (!calls.get(i).equals(publicCalls.get(i))) {
        complete.set(calls.get(i).id().value(), calls.get(i).arguments());
      }
    }
    if (!complete.isEmpty()) {
      state.set(KEY, complete);
    }
  }

  /// The call with its complete arguments, from the state of its turn's checkpoint.
  static ToolCall completeCall(ToolCall publicCall, ObjectNode state) {
    return state.path(KEY).get(publicCall.id().value()) instanceof ObjectNode complete
        ? new ToolCall(publicCall.id(), publicCall.name(), complete)
        : publicCall;
  }
}
