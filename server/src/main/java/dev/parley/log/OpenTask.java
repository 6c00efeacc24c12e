package dev.parley.log;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/// A task that has not ended, as a decision sees it.
///
/// Written only by [ContextState], under the context's lock; read by decisions under that lock.
public final class OpenTask {

  private final Origin origin;
  private final long createdSeq;
  private final TaskCreated created;
  private final Map<ToolCallId, String> calls = new LinkedHashMap<>();
  private final Map<BlockId, OpenBlock> blocks = new LinkedHashMap<>();
  private TaskState state = TaskState.SUBMITTED;
  private boolean started;
  private boolean cancelRequested;

  OpenTask(Origin origin, long createdSeq, TaskCreated created) {
    this.origin = origin;
    this.createdSeq = createdSeq;
    this.created = created;
  }

  /// Which task this is.
  public Origin origin() {
    return origin;
  }

  /// Where its `task-created` stands.
  public long createdSeq() {
    return createdSeq;
  }

  /// What it was created with.
  public TaskCreated created() {
    return created;
  }

  /// Where it stands; `SUBMITTED` until its first status.
  public TaskState state() {
    return state;
  }

  /// True once it has begun to work.
  public boolean started() {
    return started;
  }

  /// True if somebody asked that it stop.
  public boolean cancelRequested() {
    return cancelRequested;
  }

  /// Tool calls that have started and not ended, with the tools' names.
  public Map<ToolCallId, String> openCalls() {
    return Collections.unmodifiableMap(calls);
  }

  /// Blocks of text that have begun and not ended.
  public Map<BlockId, OpenBlock> openBlocks() {
    return Collections.unmodifiableMap(blocks);
  }

  OpenTask copy() {
    var copy = new OpenTask(origin, createdSeq, created);
    copy.restore(state, started, cancelRequested);
    copy.calls.putAll(calls);
    copy.blocks.putAll(blocks);
    return copy;
  }

  void restore(TaskState state, boolean started, boolean cancelRequested) {
    this.state = state;
    this.started = started;
    this.cancelRequested = cancelRequested;
  }

  void become(TaskState next) {
    state = next;
    started |= next != TaskState.SUBMITTED;
  }

  void requestCancel() {
    cancelRequested = true;
  }

  void begin(ToolCallId call, String tool) {
    calls.put(call, tool);
  }

  void end(ToolCallId call) {
    calls.remove(call);
  }

  void put(BlockId block, OpenBlock open) {
    blocks.put(block, open);
  }

  void end(BlockId block) {
    blocks.remove(block);
  }
}
