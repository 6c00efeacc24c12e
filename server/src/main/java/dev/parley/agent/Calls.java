package dev.parley.agent;

import dev.parley.model.Prompt.Part;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Run;
import dev.parley.tool.Tool;
import dev.parley.tool.ToolResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.StringNode;

/// Runs the tool calls of a turn: side by side where the tools allow it, else one after the other.
final class Calls {

  private static final System.Logger LOGGER = System.getLogger(Calls.class.getName());
  private static final int PARALLEL_MAX = 16;
  private static final int RESULT_BYTES_MAX = 64 * 1024;
  private static final int RESULT_SHOWN = 16 * 1024;

  private final Run run;
  private final Map<String, Tool> tools;

  Calls(Run run, List<Tool> tools) {
    this.run = run;
    this.tools = tools.stream().collect(Collectors.toMap(Tool::name, Function.identity()));
  }

  /// Runs the calls and returns what the model is told of each, in their order.
  List<Part.Returned> make(List<ToolCall> calls) throws InterruptedException {
    var results = new ArrayList<Part.Returned>();
    for (var start = 0; start < calls.size(); ) {
      var end = start + 1;
      while (end < calls.size()
          && end - start < PARALLEL_MAX
          && concurrent(calls.get(end - 1))
          && concurrent(calls.get(end))) {
        end++;
      }
      results.addAll(makeTogether(calls.subList(start, end)));
      start = end;
    }
    return results;
  }

  private boolean concurrent(ToolCall call) {
    var tool = tools.get(call.name());
    return tool == null || tool.concurrent();
  }

  private List<Part.Returned> makeTogether(List<ToolCall> calls) throws InterruptedException {
    run.emit(calls.stream().map(this::start).toList());
    try (var scope = new Scope<Part.Returned>()) {
      for (var call : calls) {
        var branch = scope.fork("tool-" + call.id(), () -> make(call));
        run.enterCall(call.id(), () -> branch.settle(returned(call, canceled())));
      }
      return scope.join();
    } finally {
      calls.forEach(call -> run.leaveCall(call.id()));
    }
  }

  private ToolStart start(ToolCall call) {
    var tool = tools.get(call.name());
    var metadata = Json.object().put("provider", "local").put("concurrent", concurrent(call));
    if (tool != null) {
      metadata.put("effect", tool.effect().wire());
    }
    var key = run.origin().taskId() + "/" + call.id();
    return new ToolStart(call.id(), call.name(), call.arguments(), metadata, 1, key, null, null);
  }

  private Part.Returned make(ToolCall call) throws InterruptedException {
    var clock = run.sources().clock();
    var began = clock.instant();
    var result = limited(call(call));
    var duration = Duration.between(began, clock.instant()).toMillis();
    try {
      run.emit(List.of(completed(call, result, duration)));
    } catch (Rejection.Conflict ended) {
      if (!ended.code().equals("tool-ended")) {
        throw ended;
      }
      return returned(call, canceled());
    }
    return returned(call, result);
  }

  private ToolResult call(ToolCall call) throws InterruptedException {
    var tool = tools.get(call.name());
    if (tool == null) {
      return new ToolResult.Failed("there is no tool called " + call.name());
    }
    try {
      return tool.call(call.arguments(), new CallContext(run, call.id()));
    } catch (Rejection.Invalid misfit) {
      return new ToolResult.Failed(String.valueOf(misfit.getMessage()));
    } catch (Rejection.Conflict ended) {
      if (ended.code().equals("tool-ended")) {
        return canceled();
      }
      throw ended;
    } catch (Rejection refused) {
      throw refused;
    } catch (RuntimeException broken) {
      LOGGER.log(System.Logger.Level.ERROR, "the tool " + call.name() + " broke", broken);
      return new ToolResult.Failed("the tool failed unexpectedly");
    }
  }

  private static ToolResult canceled() {
    return new ToolResult.Failed("canceled");
  }

  /// A result that is too large is cut, and says so.
  private static ToolResult limited(ToolResult result) {
    if (result instanceof ToolResult.Done(var value)) {
      var size = Json.bytes(value).length;
      if (size > RESULT_BYTES_MAX) {
        var text = value.isString() ? value.asString() : value.toString();
        var end = Math.min(text.length(), RESULT_SHOWN);
        if (Character.isHighSurrogate(text.charAt(end - 1))) {
          end--;
        }
        var note = "\n[truncated: the result has " + size + " bytes, this is how it begins]";
        return new ToolResult.Done(StringNode.valueOf(text.substring(0, end) + note));
      }
    }
    return result;
  }

  private static ToolComplete completed(ToolCall call, ToolResult result, long durationMillis) {
    var metadata = Json.object().put("duration", durationMillis);
    @Nullable JsonNode value = null;
    @Nullable String error = null;
    switch (result) {
      case ToolResult.Done done -> value = done.result();
      case ToolResult.Failed failed -> error = failed.message();
      case ToolResult.Needs _, ToolResult.NeedsSignIn _ -> error = "nobody can be asked yet";
    }
    return new ToolComplete(
        call.id(), call.name(), error == null, value, error, metadata, null, null);
  }

  private static Part.Returned returned(ToolCall call, ToolResult result) {
    return switch (result) {
      case ToolResult.Done(var value) -> new Part.Returned(call.id(), call.name(), true, value);
      case ToolResult.Failed(var message) ->
          new Part.Returned(call.id(), call.name(), false, StringNode.valueOf(message));
      case ToolResult.Needs _, ToolResult.NeedsSignIn _ ->
          throw new IllegalStateException("not yet");
    };
  }
}
