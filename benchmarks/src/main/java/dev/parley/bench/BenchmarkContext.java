package dev.parley.bench;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/// A context with a task that writes text, appended directly to the log.
final class BenchmarkContext {

  private final EventLog log;
  private final ContextId context = new ContextId(id());
  private Origin task = newTask();
  private BlockId block = new BlockId(id());

  private BenchmarkContext(EventLog log) {
    this.log = log;
  }

  /// Creates a context with a running task.
  static BenchmarkContext begin(EventLog log) {
    var benchmarkContext = new BenchmarkContext(log);
    log.create(benchmarkContext.context, new ContextCreated("local", null, null));
    benchmarkContext.append(benchmarkContext.beginning());
    return benchmarkContext;
  }

  ContextId context() {
    return context;
  }

  /// Appends one delta, number `index` of its block.
  void appendText(int index, String text) {
    // Without a stream: the cost of making a draft must not count as the cost of the log.
    var drafts = List.of(new EventDraft(task, new ContentDelta(text, index, block)));
    log.append(context, AppendGuard.none(), _ -> drafts);
  }

  /// Appends several deltas at once; the first is number `index` of its block.
  void appendText(int index, List<String> texts) {
    var events = new ArrayList<Event>();
    for (var i = 0; i < texts.size(); i++) {
      events.add(new ContentDelta(texts.get(i), index + i, block));
    }
    append(events);
  }

  /// Ends the block and the task; `text` is the complete text. Starts another task if `more`.
  void end(String text, boolean more) {
    var events = new ArrayList<Event>();
    events.add(new ContentComplete(text, block, FinishReason.STOP, null, null, null));
    events.add(new TaskStatus(TaskState.COMPLETED, null, null));
    events.add(new TaskComplete(null, null, null));
    append(events);
    if (more) {
      task = newTask();
      block = new BlockId(id());
      append(beginning());
    }
  }

  private List<Event> beginning() {
    return List.of(
        new TaskCreated(Initiator.USER, null, null, null, null, null, null, null),
        new TaskStatus(TaskState.WORKING, null, null));
  }

  private void append(List<Event> events) {
    var drafts = events.stream().map(event -> new EventDraft(task, event)).toList();
    log.append(context, AppendGuard.none(), _ -> drafts);
  }

  private static Origin newTask() {
    return Origin.root(new TaskId(id()), new AgentTypeId("agent-code"));
  }

  private static String id() {
    return UUID.randomUUID().toString();
  }
}
