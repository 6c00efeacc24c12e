package dev.parley.door.agui;

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
import dev.parley.task.Asked;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Maps task events (text, reasoning, tool calls, artifacts, subtasks) to AG-UI events.
final class Deeds {

  private final ContextId thread;

  Deeds(ContextId thread) {
    this.thread = thread;
  }

  void content(Turn turn, Origin origin, @Nullable String owner, ContentEvent event) {
    switch (event) {
      case ContentDelta(var delta, _, var block) -> {
        turn.scene.say(id(block, turn, owner), owner, delta);
        turn.spoke |= owner == null;
      }
      case ContentComplete complete -> {
        var block = id(complete.blockId(), turn, owner);
        turn.scene.said(block, owner, complete.content());
        turn.spoke |= owner == null && !complete.content().isBlank();
        var calls = complete.toolCalls() == null ? List.<ToolCall>of() : complete.toolCalls();
        if (turn.handsOver && origin.taskId().equals(turn.root)) {
          calls.forEach(call -> turn.handovers.add(call.id().value()));
        }
        calls(turn, new Scene.Holder(owner, block.value()), calls);
        if (complete.replaces() != null) {
          var value = Json.object().put("messageId", complete.replaces().value());
          value.put("replacedBy", block.value());
          turn.scene.add(AgUiEvent.custom(owner, "message-replaced", value));
        }
      }
    }
  }

  /// The id of the block. Text without a block gets a block of its agent.
  private static BlockId id(@Nullable BlockId block, Turn turn, @Nullable String owner) {
    return block != null
        ? block
        : new BlockId((owner == null ? turn.root.value() : owner) + ":text");
  }

  private static void calls(Turn turn, Scene.Holder holder, List<ToolCall> calls) {
    for (var call : calls) {
      var id = call.id().value();
      if (!turn.handovers.contains(id)) {
        turn.scene.call(id, call.name(), call.arguments(), holder);
        turn.holders.put(id, holder);
      }
    }
  }

  void thought(Turn turn, TaskId task, @Nullable String owner, ThoughtEvent event) {
    if (event instanceof ThoughtStream thought) {
      turn.scene.think(task, owner, thought.thoughtId(), thought.content());
    }
  }

  void tool(Turn turn, @Nullable String owner, ToolEvent event) {
    if (turn.handovers.contains(event.toolCallId().value())) {
      return;
    }
    switch (event) {
      case ToolStart start -> {
        var id = start.toolCallId().value();
        var holder = turn.holders.computeIfAbsent(id, _ -> new Scene.Holder(owner, null));
        turn.scene.call(id, start.toolName(), start.arguments(), holder);
        if (start.metadata() != null
            && start.metadata().path("provider").asString("").equals("client")) {
          turn.clientCalls.put(id, start.toolName());
        }
      }
      case ToolProgress progress -> {
        var id = progress.toolCallId().value();
        var content = Json.object().put("toolCallId", id).put("progress", progress.progress());
        if (progress.message() != null) {
          content.put("message", progress.message());
        }
        turn.scene.activity(id + ":progress", owner, "tool-progress", content);
      }
      case ToolComplete end -> {
        var id = end.toolCallId().value();
        // The client knows the results of its own tool calls.
        if (!turn.brought.contains(id)) {
          turn.scene.result(id, owner, text(end), end.success());
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
  void created(Turn turn, Origin origin, TaskCreated created, @Nullable String owner) {
    if (owner == null) {
      turn.scene.step(origin.taskId(), origin.agentId().value());
      return;
    }
    var started = AgUiEvent.SUBAGENT_STARTED.of(owner).put("name", origin.agentId().value());
    if (created.prompt() != null) {
      started.put("description", created.prompt());
    }
    var parent = origin.parentTaskId();
    if (parent != null && turn.scene.isAgent(parent)) {
      started.put("parentSubagentRunId", parent.value());
    }
    if (origin.spawnedByCallId() != null) {
      started.put("parentToolCallId", origin.spawnedByCallId().value());
    }
    turn.scene.agent(origin.taskId(), started);
  }

  void completed(Turn turn, TaskId task, @Nullable String content) {
    if (!turn.scene.stepped(task)) {
      var end = AgUiEvent.SUBAGENT_FINISHED.of(task.value());
      end.putObject("outcome").put("type", "success");
      if (content != null) {
        end.put("result", content);
      }
      turn.scene.agentEnded(task, end);
    }
  }

  void failed(Turn turn, TaskId task, TaskState state) {
    if (!turn.scene.stepped(task)) {
      var error = turn.errors.get(task);
      var end = AgUiEvent.SUBAGENT_ERROR.of(task.value());
      end.put("message", error == null ? "the task was " + state.wire() : error.message());
      end.put("code", error == null ? state.wire() : error.code().wire());
      turn.scene.agentEnded(task, end);
    }
  }

  void artifact(Turn turn, @Nullable String owner, ArtifactEvent event) {
    switch (event) {
      case FileWrite file -> {
        if (file.index() == 0 || file.complete()) {
          var content = about(event, "name", file.name()).put("complete", file.complete());
          put(content, "mimeType", file.mimeType());
          put(content, "description", file.description());
          turn.scene.activity(activity(event), owner, "file", content);
        }
      }
      case DataWrite data -> {
        var content = about(event, "name", data.name());
        put(content, "description", data.description());
        turn.scene.activity(activity(event), owner, "data", content);
        var key = Optional.ofNullable(data.name()).orElse(data.artifactId().value());
        var delta = Json.object();
        delta.set(key, data.data());
        turn.scene.add(state(delta, owner));
      }
      case DatasetWrite rows -> {
        if (rows.index() == 0 || rows.complete()) {
          var content = about(event, "name", rows.name()).put("complete", rows.complete());
          put(content, "description", rows.description());
          turn.scene.activity(activity(event), owner, "dataset", content);
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
    put(content, name, value);
    if (event.version() != null) {
      content.put("version", event.version());
    }
    return content.put("url", "/api/contexts/" + thread + "/artifacts/" + id);
  }

  private static void put(ObjectNode json, String name, @Nullable String value) {
    if (value != null) {
      json.put(name, value);
    }
  }

  /// A change of state keys.
  ObjectNode state(ObjectNode delta, @Nullable String owner) {
    var event = AgUiEvent.STATE_DELTA.of(owner);
    event.set("delta", Scene.patch(delta));
    return event;
  }

  /// Repeats the tool calls of earlier runs that still wait for the client.
  void recall(Turn turn) {
    for (var asked : turn.tree.asked()) {
      call(asked)
          .ifPresent(
              id -> {
                var name = turn.clientCalls.get(id);
                var holder = turn.holders.get(id);
                if (name != null && holder != null) {
                  turn.scene.recall(id, name, holder);
                }
              });
    }
  }

  /// The ids of the interrupts of one task, without its subtasks.
  List<String> asks(Turn turn, TaskId task) {
    return turn.tree.asked().stream()
        .filter(asked -> asked.origin().taskId().equals(task))
        .filter(asked -> !Interrupts.isToolCall(asked))
        .map(asked -> asked.id().value())
        .toList();
  }

  private static Optional<String> call(TaskTree.Asked asked) {
    return asked.input() == null
        ? Optional.empty()
        : Asked.by(asked.input()).map(ToolCallId::value);
  }
}
