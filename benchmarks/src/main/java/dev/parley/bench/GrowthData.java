package dev.parley.bench;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.databind.node.StringNode;

/// Writes data of any size to a log, many events with one append, as a server would have written
/// them one by one.
final class GrowthData {

  private static final int WRITERS = 1_000;
  private static final int SAMPLES = 20;
  private static final int DELTAS = 995;
  private static final int FORK_TASKS = 10;
  private static final int SUBTASKS = 10;
  private static final AgentTypeId AGENT = new AgentTypeId("agent-code");

  private final EventLog log;
  private final SampleText sampleText = new SampleText();

  GrowthData(EventLog log) {
    this.log = log;
  }

  /// Writes data of this size. Returns the contexts that show its effect: some of many, or the only
  /// one.
  List<ContextId> write(GrowthKind growthKind, long size) throws InterruptedException {
    return switch (growthKind) {
      case CONTEXTS -> contexts(size, SAMPLES);
      case STREAMS -> contexts(size, (int) size);
      case EVENTS -> List.of(events(size));
      case FORKS -> List.of(forks(size));
      case TASKS -> List.of(tasks(size));
      case MESSAGE -> List.of(message(size));
      case TOOL_RESULT -> List.of(toolResult(size));
    };
  }

  /// Writes contexts with one short task each. Returns `samples` of them, evenly spread.
  private List<ContextId> contexts(long count, int samples) throws InterruptedException {
    var next = new AtomicLong();
    var every = Math.max(1, count / samples);
    var sampled = new ConcurrentLinkedQueue<ContextId>();
    var writers = new ArrayList<Thread>();
    for (var i = 0; i < Math.min(WRITERS, count); i++) {
      writers.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    for (var n = next.getAndIncrement(); n < count; n = next.getAndIncrement()) {
                      var context = create();
                      append(context, shortTask((int) n, 4));
                      if (n % every == 0) {
                        sampled.add(context);
                      }
                    }
                  }));
    }
    for (var writer : writers) {
      writer.join();
    }
    return List.copyOf(sampled);
  }

  private ContextId events(long count) {
    var context = create();
    var written = 1L;
    for (var answer = 0; written < count; answer++) {
      var task = shortTask(answer, (int) Math.min(DELTAS, count - written));
      append(context, task);
      written += task.size();
    }
    return context;
  }

  /// Each fork adds tasks to the one before, and is forked at its end.
  private ContextId forks(long count) {
    var context = create();
    for (var depth = 0; depth <= count; depth++) {
      for (var i = 0; i < FORK_TASKS; i++) {
        append(context, shortTask(depth * FORK_TASKS + i, 4));
      }
      if (depth < count) {
        var fork = new ContextId(id());
        log.fork(fork, new ContextForked(context, log.head(context).seq(), "local", null));
        context = fork;
      }
    }
    return context;
  }

  /// A tree in which each task has up to ten subtasks.
  private ContextId tasks(long count) {
    var context = create();
    var origins = new ArrayList<Origin>();
    for (var i = 0; i < count; i++) {
      var origin = i == 0 ? newTask() : subtask(origins.get((i - 1) / SUBTASKS));
      origins.add(origin);
      append(context, List.of(draft(origin, created()), draft(origin, working())));
    }
    for (var i = origins.size() - 1; i >= 0; i--) {
      append(context, answer(origins.get(i), i, 4));
    }
    return context;
  }

  private ContextId message(long bytes) {
    var context = create();
    append(context, List.of(EventDraft.of(message(Role.USER, text(bytes)))));
    append(context, shortTask(0, 4));
    return context;
  }

  private ContextId toolResult(long bytes) {
    var context = create();
    var task = newTask();
    var call = new ToolCallId(id());
    append(
        context,
        List.of(
            EventDraft.of(message(Role.USER, "read the file")),
            draft(task, created()),
            draft(task, working()),
            draft(
                task,
                new ToolStart(call, "read_file", Json.object(), null, null, null, null, null)),
            draft(
                task,
                new ToolComplete(
                    call,
                    "read_file",
                    true,
                    StringNode.valueOf(text(bytes)),
                    null,
                    null,
                    null,
                    null))));
    append(context, answer(task, 0, 4));
    return context;
  }

  private ContextId create() {
    var context = new ContextId(id());
    log.create(context, new ContextCreated("local", null, null));
    return context;
  }

  private List<EventDraft> shortTask(int number, int deltas) {
    var task = newTask();
    var drafts = new ArrayList<EventDraft>();
    drafts.add(EventDraft.of(message(Role.USER, "say hello")));
    drafts.add(draft(task, created()));
    drafts.add(draft(task, working()));
    drafts.addAll(answer(task, number, deltas));
    return drafts;
  }

  private List<EventDraft> answer(Origin task, int number, int deltas) {
    var block = new BlockId(id());
    var text = new StringBuilder();
    var drafts = new ArrayList<EventDraft>();
    for (var i = 0; i < deltas; i++) {
      var piece = sampleText.piece(number, i);
      text.append(piece);
      drafts.add(draft(task, new ContentDelta(piece, i, block)));
    }
    var complete = text.toString();
    drafts.add(
        draft(task, new ContentComplete(complete, block, FinishReason.STOP, null, null, null)));
    if (task.parentTaskId() == null) {
      drafts.add(draft(task, message(Role.ASSISTANT, complete)));
    }
    drafts.add(draft(task, new TaskStatus(TaskState.COMPLETED, null, null)));
    drafts.add(draft(task, new TaskComplete(null, null, null)));
    return drafts;
  }

  private String text(long bytes) {
    var text = new StringBuilder();
    for (var i = 0L; text.length() < bytes; i++) {
      text.append(sampleText.piece(0, i));
    }
    return text.toString();
  }

  private void append(ContextId context, List<EventDraft> drafts) {
    log.append(context, AppendGuard.none(), _ -> drafts);
  }

  private static Event created() {
    return new TaskCreated(Initiator.USER, null, null, null, null, null, null, null);
  }

  private static Event working() {
    return new TaskStatus(TaskState.WORKING, null, null);
  }

  private static Message message(Role role, String text) {
    return new Message(new MessageId(id()), role, text, null, null);
  }

  private static EventDraft draft(Origin task, Event event) {
    return new EventDraft(task, event);
  }

  private static Origin newTask() {
    return Origin.root(new TaskId(id()), AGENT);
  }

  private static Origin subtask(Origin parent) {
    return new Origin(
        new TaskId(id()),
        parent.taskId(),
        parent.rootTaskId(),
        AGENT,
        AgentLevel.SUBAGENT,
        null,
        null,
        null);
  }

  private static String id() {
    return UUID.randomUUID().toString();
  }
}
