package dev.parley.log;

import dev.parley.log.ContextState.OpenAuth;
import dev.parley.log.ContextState.OpenInput;
import dev.parley.log.OpenTask.OpenBlock;
import dev.parley.log.OpenTask.OpenCall;
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
    List<SavedTask> tasks,
    List<SavedInput> inputs,
    List<SavedAuth> auths,
    List<SavedArtifact> artifacts,
    @Nullable Long sharedTo,
    @Nullable String workingDirectory) {

  record SavedTask(
      Origin origin,
      long createdSeq,
      TaskCreated created,
      TaskState state,
      boolean started,
      boolean cancelRequested,
      List<SavedCall> calls,
      List<SavedBlock> blocks,
      @Nullable SavedWait waiting,
      @Nullable Integer recoveries,
      @Nullable Boolean delegating) {}

  record SavedWait(long parkedSeq, long wokenSeq, int descendants) {}

  record SavedCall(ToolCallId id, String tool, @Nullable SubagentMetadata subagents) {}

  record SavedBlock(BlockId id, OpenBlock open) {}

  record SavedInput(TaskId task, InputRequired required, @Nullable Long askedSeq) {}

  record SavedAuth(TaskId task, AuthRequired required) {}

  record SavedArtifact(ArtifactId id, ArtifactHead head) {}

  private static final int PACK_MIN = 1_024;

  /// Encodes a complete state, so that later states can be computed from it.
  static byte[] save(ContextState state, long lastMillis) {
    return Json.bytes(of(state, lastMillis, state.artifacts()));
  }

  /// Encodes a state without its artifact heads, which [ArtifactHeadTable] stores.
  static byte[] saveWithoutHeads(ContextState state, long lastMillis, ChunkPacker chunkPacker) {
    var json = Json.bytes(of(state, lastMillis, Map.of()));
    return json.length < PACK_MIN ? json : chunkPacker.pack(json);
  }

  private static SavedState of(
      ContextState state, long lastMillis, Map<ArtifactId, ArtifactHead> artifacts) {
    return new SavedState(
        state.owner(),
        state.head(),
        lastMillis,
        state.openTasks().stream().map(SavedState::save).toList(),
        state.openInputs().stream()
            .map(i -> new SavedInput(i.task(), i.required(), i.askedSeq()))
            .toList(),
        state.openAuths().stream().map(a -> new SavedAuth(a.task(), a.required())).toList(),
        artifacts.entrySet().stream()
            .map(e -> new SavedArtifact(e.getKey(), e.getValue()))
            .sorted(Comparator.comparing(savedArtifact -> savedArtifact.id().value()))
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
    try (var chunkPacker = new ChunkPacker()) {
      return read(chunkPacker.unpack(stored));
    }
  }

  ContextState restore() {
    var state = new ContextState();
    state.restore(owner, head, tasks.stream().map(SavedState::restore).toList());
    for (var savedInput : inputs) {
      var open = new OpenInput(savedInput.task(), savedInput.required(), savedInput.askedSeq());
      state.inputs().put(savedInput.required().inputId(), open);
    }
    for (var savedAuth : auths) {
      state
          .auths()
          .put(savedAuth.required().authId(), new OpenAuth(savedAuth.task(), savedAuth.required()));
    }
    artifacts.forEach(
        savedArtifact -> state.artifacts().put(savedArtifact.id(), savedArtifact.head()));
    state.setSharedTo(sharedTo == null ? 0 : sharedTo);
    state.setWorkingDirectory(workingDirectory);
    return state;
  }

  private static SavedTask save(OpenTask task) {
    return new SavedTask(
        task.origin(),
        task.createdSeq(),
        task.created(),
        task.state(),
        task.started(),
        task.cancelRequested(),
        task.openCalls().entrySet().stream()
            .map(e -> new SavedCall(e.getKey(), e.getValue().tool(), e.getValue().subagents()))
            .toList(),
        task.openBlocks().entrySet().stream()
            .map(e -> new SavedBlock(e.getKey(), e.getValue()))
            .toList(),
        new SavedWait(task.parkedSeq(), task.wokenSeq(), task.descendants()),
        task.recoveries() == 0 ? null : task.recoveries(),
        task.delegating() ? true : null);
  }

  private static OpenTask restore(SavedTask saved) {
    var task = new OpenTask(saved.origin(), saved.createdSeq(), saved.created());
    task.restore(saved.state(), saved.started(), saved.cancelRequested());
    if (saved.waiting() != null) {
      var savedWait = saved.waiting();
      task.restore(savedWait.parkedSeq(), savedWait.wokenSeq(), savedWait.descendants());
    }
    task.setRecoveries(saved.recoveries() == null ? 0 : saved.recoveries());
    task.setDelegating(Boolean.TRUE.equals(saved.delegating()));
    saved
        .calls()
        .forEach(
            savedCall ->
                task.startCall(
                    savedCall.id(), new OpenCall(savedCall.tool(), savedCall.subagents())));
    saved.blocks().forEach(savedBlock -> task.put(savedBlock.id(), savedBlock.open()));
    return task;
  }
}
