package dev.parley.log;

import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The stored form of a [ContextState], by which a context is loaded without reading its entries.
record SavedState(
    String owner,
    Position head,
    long lastMillis,
    List<Task> tasks,
    List<Input> inputs,
    List<Auth> auths,
    List<Artifact> artifacts,
    @Nullable Long sharedTo,
    @Nullable String workingDirectory) {

  record Task(
      Origin origin,
      long createdSeq,
      TaskCreated created,
      TaskState state,
      boolean started,
      boolean cancelRequested,
      List<Call> calls,
      List<Block> blocks,
      @Nullable Waiting waiting,
      @Nullable Integer recoveries) {}

  record Waiting(long parkedSeq, long wokenSeq, int descendants) {}

  record Call(ToolCallId id, String tool, @Nullable SubagentMetadata subagents) {}

  record Block(BlockId id, OpenBlock open) {}

  record Input(TaskId task, InputRequired required, @Nullable Long askedSeq) {}

  record Auth(TaskId task, AuthRequired required) {}

  record Artifact(ArtifactId id, ArtifactHead head) {}

  private static final int PACK_MIN = 1_024;

  /// Encodes a complete state, so that later states can be computed from it.
  static byte[] save(ContextState state, long lastMillis) {
    return Json.bytes(of(state, lastMillis, state.artifacts()));
  }

  /// Encodes a state without its artifact heads, which [ArtifactHeadTable] stores.
  static byte[] saveWithoutHeads(ContextState state, long lastMillis, Packed packed) {
    var json = Json.bytes(of(state, lastMillis, Map.of()));
    return json.length < PACK_MIN ? json : packed.pack(json);
  }

  private static SavedState of(
      ContextState state, long lastMillis, Map<ArtifactId, ArtifactHead> artifacts) {
    return new SavedState(
        state.owner(),
        state.head(),
        lastMillis,
        state.openTasks().stream().map(SavedState::save).toList(),
        state.openInputs().stream()
            .map(i -> new Input(i.task(), i.required(), i.askedSeq()))
            .toList(),
        state.openAuths().stream().map(a -> new Auth(a.task(), a.required())).toList(),
        artifacts.entrySet().stream()
            .map(e -> new Artifact(e.getKey(), e.getValue()))
            .sorted(Comparator.comparing(artifact -> artifact.id().value()))
            .toList(),
        state.sharedTo() == 0 ? null : state.sharedTo(),
        state.workingDirectory().orElse(null));
  }

  static SavedState read(byte[] json) {
    return Json.mapper().readValue(json, SavedState.class);
  }

  /// Reads a state that is stored packed, or as plain JSON by an earlier version.
  static SavedState readStored(byte[] stored) {
    if (stored[0] == '{') {
      return read(stored);
    }
    try (var packed = new Packed()) {
      return read(packed.unpack(stored));
    }
  }

  ContextState restore() {
    var state = new ContextState();
    state.restore(owner, head, tasks.stream().map(SavedState::restore).toList());
    for (var input : inputs) {
      var open = new OpenInput(input.task(), input.required(), input.askedSeq());
      state.inputs().put(input.required().inputId(), open);
    }
    for (var auth : auths) {
      state.auths().put(auth.required().authId(), new OpenAuth(auth.task(), auth.required()));
    }
    artifacts.forEach(artifact -> state.artifacts().put(artifact.id(), artifact.head()));
    state.share(sharedTo == null ? 0 : sharedTo);
    state.workIn(workingDirectory);
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
        task.openCalls().entrySet().stream()
            .map(e -> new Call(e.getKey(), e.getValue().tool(), e.getValue().subagents()))
            .toList(),
        task.openBlocks().entrySet().stream()
            .map(e -> new Block(e.getKey(), e.getValue()))
            .toList(),
        new Waiting(task.parkedSeq(), task.wokenSeq(), task.descendants()),
        task.recoveries() == 0 ? null : task.recoveries());
  }

  private static OpenTask restore(Task saved) {
    var task = new OpenTask(saved.origin(), saved.createdSeq(), saved.created());
    task.restore(saved.state(), saved.started(), saved.cancelRequested());
    if (saved.waiting() != null) {
      var waiting = saved.waiting();
      task.restore(waiting.parkedSeq(), waiting.wokenSeq(), waiting.descendants());
    }
    task.recovered(saved.recoveries() == null ? 0 : saved.recoveries());
    saved
        .calls()
        .forEach(call -> task.begin(call.id(), new OpenCall(call.tool(), call.subagents())));
    saved.blocks().forEach(block -> task.put(block.id(), block.open()));
    return task;
  }
}
