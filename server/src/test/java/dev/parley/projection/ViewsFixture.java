package dev.parley.projection;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.Encoding;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextRewound;
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
import dev.parley.runtime.ClockTime;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// A log in memory with a context `c`, its views, and short methods for common events.
///
/// The clock advances by one second whenever it is read.
final class ViewsFixture implements AutoCloseable {

  static final ContextId C = new ContextId("c0000000-0000-4000-8000-00000000000c");
  static final AgentTypeId AGENT = new AgentTypeId("agent");
  static final Origin T = Origin.root(new TaskId("10000000-0000-4000-8000-000000000001"), AGENT);
  static final ArtifactId A = new ArtifactId("a0000000-0000-4000-8000-00000000000a");
  static final BlockId BLOCK = new BlockId("b0000000-0000-4000-8000-00000000000b");

  private final AtomicLong seconds = new AtomicLong();
  final MemoryLog log = new MemoryLog(new ClockTime(this::now));
  final Path file;
  Views views;

  ViewsFixture(Path folder) {
    file = folder.resolve("views.db");
    log.create(C, new ContextCreated("ada", null, null));
    views = TestViews.open(file, log);
  }

  long addMessage(String id, String content) {
    return add(message(id, content));
  }

  long add(Event event) {
    return add(null, event);
  }

  /// Appends an event to `c` and returns its seq.
  long add(@Nullable Origin origin, Event event) {
    return add(C, origin, event);
  }

  long add(ContextId context, @Nullable Origin origin, Event event) {
    return log.append(context, AppendGuard.none(), Decision.always(new EventDraft(origin, event)))
        .last()
        .seq();
  }

  /// Creates and starts a task.
  long beginTask(Origin origin) {
    var seq = add(origin, created());
    add(origin, status(TaskState.WORKING));
    return seq;
  }

  void complete(Origin origin, String content) {
    add(origin, status(TaskState.COMPLETED));
    add(origin, new TaskComplete(content, null, null));
  }

  long rewind(long toSeq) {
    return add(new ContextRewound(toSeq, null, null, null, null));
  }

  /// Closes the views and opens them again.
  void reopen() {
    views.close();
    views = TestViews.open(file, log);
  }

  static Message message(String id, String content) {
    return new Message(new MessageId(id), Role.USER, content, null, null);
  }

  static TaskCreated created() {
    return new TaskCreated(Initiator.USER, null, null, null, null, null, null, null);
  }

  static TaskStatus status(TaskState state) {
    return new TaskStatus(state, null, null);
  }

  static ContentDelta delta(int index, String text) {
    return new ContentDelta(text, index, BLOCK);
  }

  static ContentComplete end(String text) {
    return new ContentComplete(text, BLOCK, null, null, null, null);
  }

  static FileWrite file(String data, int index, boolean complete) {
    var name = index == 0 ? "notes.md" : null;
    return new FileWrite(A, data, index, complete, name, null, null, null, null, null);
  }

  static FileWrite base64(String data, int index, boolean complete) {
    var encoding = index == 0 ? Encoding.BASE64 : null;
    return new FileWrite(A, data, index, complete, null, null, null, encoding, null, null);
  }

  static DataWrite data(String key, int value) {
    return new DataWrite(A, "figures", null, Json.object().put(key, value), null, null);
  }

  static DatasetWrite rows(int index, boolean complete, ObjectNode... rows) {
    return new DatasetWrite(A, List.of(rows), index, complete, null, null, null, null, null);
  }

  static Origin subtask(String id, Origin parent) {
    return new Origin(
        new TaskId(id),
        parent.taskId(),
        parent.rootTaskId(),
        AGENT,
        AgentLevel.SUBAGENT,
        null,
        null,
        null);
  }

  private Instant now() {
    return Instant.ofEpochSecond(seconds.incrementAndGet());
  }

  @Override
  public void close() {
    views.close();
  }
}
