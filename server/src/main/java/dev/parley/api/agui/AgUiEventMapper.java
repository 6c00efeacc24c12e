package dev.parley.api.agui;

import dev.parley.projection.TaskTree.OpenQuestion;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Maps task events (text, reasoning, tool calls, artifacts, subtasks) to AG-UI events.
final class AgUiEventMapper {

  private final ContextId thread;

  AgUiEventMapper(ContextId thread) {
    this.thread = thread;
  }

  void content(AgUiRunState run, Origin origin, @Nullable String owner, ContentEvent event) {
    switch (event) {
      case ContentDelta(var delta, _, var block) -> {
        run.encoder.appendText(id(block, run, owner), owner, delta);
        run.hasText |= owner == null;
      }
      case ContentComplete complete -> {
        var block = id(complete.blockId(), run, owner);
        run.encoder.endText(block, owner, complete.content());
        run.hasText |= owner == null && !complete.content().isBlank();
        var calls = complete.toolCalls() == null ? List.<ToolCall>of() : complete.toolCalls();
        if (run.delegatesAll && origin.taskId().equals(run.root)) {
          calls.forEach(call -> run.handoverCalls.add(call.id().value()));
        }
        calls(run, new AgUiRunEncoder.CallParent(owner, block.value()), calls);
        if (complete.replaces() != null) {
          var value = Json.object().put("messageId", complete.replaces().value());
          value.put("replacedBy", block.value());
          run.encoder.add(AgUiEvent.custom(owner, "message-replaced", value));
        }
      }
    }
  }

  /// The id of the block. Text without a block gets a block of its agent.
  private static BlockId id(@Nullable BlockId block, AgUiRunState run, @Nullable String owner) {
    return block != null
        ? block
        : new BlockId((owner == null ? run.root.value() : owner) + ":text");
  }

  private static void calls(
      AgUiRunState run, AgUiRunEncoder.CallParent parent, List<ToolCall> calls) {
    for (var call : calls) {
      var id = call.id().value();
      if (!run.handoverCalls.contains(id)) {
        run.encoder.call(id, call.name(), call.arguments(), parent);
        run.callParents.put(id, parent);
      }
    }
  }

  void thought(AgUiRunState run, TaskId task, @Nullable String owner, ThoughtEvent event) {
    if (event instanceof ThoughtStream thought) {
      run.encoder.appendReasoning(task, owner, thought.thoughtId(), thought.content());
    }
  }

  void tool(AgUiRunState run, @Nullable String owner, ToolEvent event) {
    if (run.handoverCalls.contains(event.toolCallId().value())) {
      return;
    }
    switch (event) {
      case ToolStart start -> {
        var id = start.toolCallId().value();
        var parent =
            run.callParents.computeIfAbsent(id, _ -> new AgUiRunEncoder.CallParent(owner, null));
        run.encoder.call(id, start.toolName(), start.arguments(), parent);
        if (start.facts().runByClient()) {
          run.clientCalls.put(id, start.toolName());
        }
      }
      case ToolProgress progress -> {
        var id = progress.toolCallId().value();
        var content = Json.object().put("toolCallId", id).put("progress", progress.progress());
        Json.putPresent(content, "message", progress.message());
        run.encoder.activity(id + ":progress", owner, "tool-progress", content);
      }
      case ToolComplete end -> {
        var id = end.toolCallId().value();
        // The client knows the results of its own tool calls.
        if (!run.clientResults.contains(id)) {
          run.encoder.result(id, owner, text(end), end.success());
        }
      }
    }
  }

  private static String text(ToolComplete end) {
    if (!end.success()) {
      var reason = Optional.ofNullable(end.error()).orElse("the tool failed");
      return "Error: " + reason;
    }
    var result = end.result();
    if (result == null) {
      return "";
    }
    return result.isString() ? result.asString() : result.toString();
  }

  /// A subtask: a step if it does all of the parent's work, or else a sub-agent.
  void created(AgUiRunState run, Origin origin, TaskCreated created, @Nullable String owner) {
    if (owner == null) {
      run.encoder.startStep(origin.taskId(), origin.agentId().value());
      return;
    }
    var started = AgUiEvent.SUBAGENT_STARTED.ofOwner(owner).put("name", origin.agentId().value());
    Json.putPresent(started, "description", created.prompt());
    var parent = origin.parentTaskId();
    if (parent != null && run.encoder.isSubagent(parent)) {
      started.put("parentSubagentRunId", parent.value());
    }
    if (origin.spawnedByCallId() != null) {
      started.put("parentToolCallId", origin.spawnedByCallId().value());
    }
    run.encoder.startSubagent(origin.taskId(), started);
  }

  void completed(AgUiRunState run, TaskId task, @Nullable String content) {
    if (!run.encoder.endStep(task)) {
      var end = AgUiEvent.SUBAGENT_FINISHED.ofOwner(task.value());
      end.putObject("outcome").put("type", "success");
      Json.putPresent(end, "result", content);
      run.encoder.endSubagent(task, end);
    }
  }

  void failed(AgUiRunState run, TaskId task, TaskState state) {
    if (!run.encoder.endStep(task)) {
      var error = run.tree.error(task).orElse(null);
      var end = AgUiEvent.SUBAGENT_ERROR.ofOwner(task.value());
      end.put("message", error == null ? "the task was " + state.wire() : error.message());
      end.put("code", error == null ? state.wire() : error.code().wire());
      run.encoder.endSubagent(task, end);
    }
  }

  void artifact(AgUiRunState run, @Nullable String owner, ArtifactEvent event) {
    switch (event) {
      case FileWrite file -> {
        if (file.index() == 0 || file.complete()) {
          var content = about(event, "name", file.name()).put("complete", file.complete());
          Json.putPresent(content, "mimeType", file.mimeType());
          Json.putPresent(content, "description", file.description());
          run.encoder.activity(activity(event), owner, "file", content);
        }
      }
      case DataWrite data -> {
        var content = about(event, "name", data.name());
        Json.putPresent(content, "description", data.description());
        run.encoder.activity(activity(event), owner, "data", content);
        var key = Optional.ofNullable(data.name()).orElse(data.artifactId().value());
        var delta = Json.object();
        delta.set(key, data.data());
        run.encoder.add(state(delta, owner));
      }
      case DatasetWrite rows -> {
        if (rows.index() == 0 || rows.complete()) {
          var content = about(event, "name", rows.name()).put("complete", rows.complete());
          Json.putPresent(content, "description", rows.description());
          run.encoder.activity(activity(event), owner, "dataset", content);
        }
      }
    }
  }

  private static String activity(ArtifactEvent event) {
    var version = event.version();
    return event.artifactId().value() + (version == null ? "" : ":v" + version);
  }

  private ObjectNode about(ArtifactEvent event, String name, @Nullable String value) {
    var id = event.artifactId().value();
    var content = Json.object().put("artifactId", id);
    Json.putPresent(content, name, value);
    Json.putPresent(content, "version", event.version());
    return content.put("url", "/api/contexts/" + thread + "/artifacts/" + id);
  }

  /// A change of state keys.
  ObjectNode state(ObjectNode delta, @Nullable String owner) {
    var event = AgUiEvent.STATE_DELTA.ofOwner(owner);
    event.set("delta", AgUiRunEncoder.patch(delta));
    return event;
  }

  /// Repeats the tool calls of earlier runs that still wait for the client.
  void repeatPendingCalls(AgUiRunState run) {
    for (var question : run.tree.openQuestions()) {
      call(question)
          .ifPresent(
              id -> {
                var name = run.clientCalls.get(id);
                var parent = run.callParents.get(id);
                if (name != null && parent != null) {
                  run.encoder.repeatCall(id, name, parent);
                }
              });
    }
  }

  /// The ids of the interrupts of one task, without its subtasks.
  List<String> interruptsOf(AgUiRunState run, TaskId task) {
    return run.tree.openQuestions().stream()
        .filter(question -> question.origin().taskId().equals(task))
        .filter(question -> !Interrupts.isToolCall(question))
        .map(question -> question.id().value())
        .toList();
  }

  private static Optional<String> call(OpenQuestion question) {
    return question.input() == null
        ? Optional.empty()
        : question.input().facts().toolCallId().map(ToolCallId::value);
  }
}
