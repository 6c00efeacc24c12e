package dev.parley.bench;

import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
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

/// A context in which a task says something, written straight to the log.
final class Conversation {

  private final EventLog log;
  private final ContextId context = new ContextId(id());
  private Origin task = newTask();
  private BlockId block = new BlockId(id());

  private Conversation(EventLog log) {
    this.log = log;
  }

  /// Begins a context, and in it a task that works.
  static Conversation begin(EventLog log) {
    var conversation = new Conversation(log);
    log.create(conversation.context, new ContextCreated("local", null, null));
    conversation.append(conversation.beginning());
    return conversation;
  }

  ContextId context() {
    return context;
  }

  /// Says one piece of text, which is number `index` of its block.
  void say(int index, String text) {
    append(List.of(new ContentDelta(text, index, block)));
  }

  /// Says several pieces in one append, the first being number `index` of its block.
  void say(int index, List<String> texts) {
    var events = new ArrayList<Event>();
    for (var i = 0; i < texts.size(); i++) {
      events.add(new ContentDelta(texts.get(i), index + i, block));
    }
    append(events);
  }

  /// Ends the block and the task; `text` is all that was said. A next task begins if `more`.
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
    var drafts = events.stream().map(event -> new Draft(task, event)).toList();
    log.append(context, Guard.none(), _ -> drafts);
  }

  private static Origin newTask() {
    return Origin.root(new TaskId(id()), new AgentTypeId("agent-code"));
  }

  private static String id() {
    return UUID.randomUUID().toString();
  }
}
