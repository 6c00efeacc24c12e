package dev.parley.log;

import dev.parley.protocol.BlockId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A task that has not ended, as decisions see it.
///
/// Only [ContextState] changes it, under the context's lock; decisions read it under the same lock.
public final class OpenTask {

  private final Origin origin;
  private final long createdSeq;
  private final TaskCreated created;
  private final Map<ToolCallId, OpenCall> calls = new LinkedHashMap<>();
  private final Map<BlockId, OpenBlock> blocks = new LinkedHashMap<>();
  private TaskState state = TaskState.SUBMITTED;
  private boolean started;
  private boolean delegating;
  private boolean cancelRequested;
  private long parkedSeq;
  private long wokenSeq;
  private int descendants;
  private int recoveries;

  OpenTask(Origin origin, long createdSeq, TaskCreated created) {
    this.origin = origin;
    this.createdSeq = createdSeq;
    this.created = created;
  }

  /// The identity of the task.
  public Origin origin() {
    return origin;
  }

  /// The seq of its `task-created` event.
  public long createdSeq() {
    return createdSeq;
  }

  /// Its `task-created` event.
  public TaskCreated created() {
    return created;
  }

  /// Its state; `SUBMITTED` until its first status.
  public TaskState state() {
    return state;
  }

  /// True if it waits for an answer or a subtask. A task that only delegates waits for its subtasks
  /// while its state is `WORKING`.
  public boolean waiting() {
    return state.waiting() || delegating;
  }

  /// True once it has started to work.
  public boolean started() {
    return started;
  }

  /// True if its cancellation was requested.
  public boolean cancelRequested() {
    return cancelRequested;
  }

  /// True if an event that it may be waiting for was appended since it began to wait.
  public boolean woken() {
    return wokenSeq > parkedSeq;
  }

  /// The seq of the last event that it may have waited for; 0 if there is none.
  public long wokenSeq() {
    return wokenSeq;
  }

  /// The number of its descendants, if it is a root task.
  public int descendants() {
    return descendants;
  }

  /// The number of consecutive recoveries after a crash without progress in between.
  public int recoveries() {
    return recoveries;
  }

  /// Tool calls that have started and not ended.
  public Map<ToolCallId, OpenCall> openCalls() {
    return Collections.unmodifiableMap(calls);
  }

  /// Blocks of text that have begun and not ended.
  public Map<BlockId, OpenBlock> openBlocks() {
    return Collections.unmodifiableMap(blocks);
  }

  OpenTask copy() {
    var copy = new OpenTask(origin, createdSeq, created);
    copy.restore(state, started, cancelRequested);
    copy.restore(parkedSeq, wokenSeq, descendants);
    copy.recoveries = recoveries;
    copy.delegating = delegating;
    copy.calls.putAll(calls);
    copy.blocks.putAll(blocks);
    return copy;
  }

  void restore(TaskState state, boolean started, boolean cancelRequested) {
    this.state = state;
    this.started = started;
    this.cancelRequested = cancelRequested;
  }

  void restore(long parkedSeq, long wokenSeq, int descendants) {
    this.parkedSeq = parkedSeq;
    this.wokenSeq = wokenSeq;
    this.descendants = descendants;
  }

  boolean delegating() {
    return delegating;
  }

  void setDelegating(boolean waits) {
    delegating = waits;
  }

  void setRecoveries(int times) {
    recoveries = times;
  }

  long parkedSeq() {
    return parkedSeq;
  }

  void setState(TaskState next, boolean delegates, long seq) {
    state = next;
    delegating = delegates;
    if (waiting()) {
      parkedSeq = seq;
    }
    started |= next != TaskState.SUBMITTED;
  }

  void wake(long seq) {
    wokenSeq = seq;
  }

  void countDescendant() {
    descendants++;
  }

  void requestCancel() {
    cancelRequested = true;
  }

  void startCall(ToolCallId id, OpenCall call) {
    calls.put(id, call);
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

  /// A tool call that has started and not ended, and the sub-agents that it spawned, if any.
  public record OpenCall(String tool, @Nullable SubagentMetadata subagents) {}

  /// A block of text that is being streamed: its first seq, its number of deltas and characters, and
  /// a hash of its text. With the hash, the end of the block can be stored without the text.
  public record OpenBlock(long firstSeq, int count, int length, long hash) {

    // FNV-1a. With 64 bits, an accidental collision of two different texts of the same length is
    // practically impossible.
    private static final long SEED = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    static OpenBlock begin(long seq) {
      return new OpenBlock(seq, 0, 0, SEED);
    }

    OpenBlock plus(String delta) {
      return new OpenBlock(firstSeq, count + 1, length + delta.length(), extend(hash, delta));
    }

    /// True if `content` equals the joined deltas of the block.
    boolean isWhole(String content) {
      return content.length() == length && extend(SEED, content) == hash;
    }

    /// The hash of the text so far followed by `delta`.
    private static long extend(long hash, String delta) {
      var result = hash;
      for (var i = 0; i < delta.length(); i++) {
        result = (result ^ delta.charAt(i)) * PRIME;
      }
      return result;
    }
  }
}
