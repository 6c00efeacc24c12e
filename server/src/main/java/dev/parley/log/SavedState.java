package dev.parley.log;

import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A [ContextState] as it is stored beside the segments, so that a context opens without its past.
record SavedState(
    String owner,
    Position head,
    long lastMillis,
    List<Task> tasks,
    List<Input> inputs,
    List<Auth> auths,
    List<Artifact> artifacts,
    @Nullable Long sharedTo) {

  record Task(
      Origin origin,
      long createdSeq,
      TaskCreated created,
      TaskState state,
      boolean started,
      boolean cancelRequested,
      List<Call> calls,
      List<Block> blocks) {}

  record Call(ToolCallId id, String tool) {}

  record Block(BlockId id, OpenBlock open) {}

  record Input(InputId id, TaskId task) {}

  record Auth(AuthId id, TaskId task) {}

  record Artifact(ArtifactId id, ArtifactHead head) {}

  static byte[] save(ContextState state, long lastMillis) {
    return Json.bytes(
        new SavedState(
            state.owner(),
            state.head(),
            lastMillis,
            state.openTasks().stream().map(SavedState::save).toList(),
            state.inputs().entrySet().stream()
                .map(e -> new Input(e.getKey(), e.getValue()))
                .toList(),
            state.auths().entrySet().stream().map(e -> new Auth(e.getKey(), e.getValue())).toList(),
            state.artifacts().entrySet().stream()
                .map(e -> new Artifact(e.getKey(), e.getValue()))
                .toList(),
            state.sharedTo() == 0 ? null : state.sharedTo()));
  }

  static SavedState read(byte[] json) {
    return Json.mapper().readValue(json, SavedState.class);
  }

  ContextState restore() {
    var state = new ContextState();
    state.restore(owner, head, tasks.stream().map(SavedState::restore).toList());
    inputs.forEach(input -> state.inputs().put(input.id(), input.task()));
    auths.forEach(auth -> state.auths().put(auth.id(), auth.task()));
    artifacts.forEach(artifact -> state.artifacts().put(artifact.id(), artifact.head()));
    state.share(sharedTo == null ? 0 : sharedTo);
    return state;
  }

  private static Task save(OpenTask task) {
    return new Task(
        task.origin(),
        task.createdSeq(),
        task.created(),
        task.state(),
        task.started(),
        task.cancelRequested(),
        task.openCalls().entrySet().stream().map(e -> new Call(e.getKey(), e.getValue())).toList(),
        task.openBlocks().entrySet().stream()
            .map(e -> new Block(e.getKey(), e.getValue()))
            .toList());
  }

  private static OpenTask restore(Task saved) {
    var task = new OpenTask(saved.origin(), saved.createdSeq(), saved.created());
    task.restore(saved.state(), saved.started(), saved.cancelRequested());
    saved.calls().forEach(call -> task.begin(call.id(), call.tool()));
    saved.blocks().forEach(block -> task.put(block.id(), block.open()));
    return task;
  }
}
