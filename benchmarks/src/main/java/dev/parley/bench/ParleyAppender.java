package dev.parley.bench;

import dev.parley.log.Decision;
import dev.parley.log.Draft;
import dev.parley.log.Guard;
import dev.parley.log.SqliteLog;
import dev.parley.log.Tuning;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.stream.IntStream;

/// Parley's log, as the server uses it: each context has a task at work that says something.
final class ParleyAppender implements Appender {

  private final SqliteLog log;
  private final Conversation[] conversations;

  private record Conversation(ContextId context, Origin task, BlockId block) {}

  ParleyAppender(Path folder, int contexts) {
    this(folder, contexts, InstantSource.system());
  }

  ParleyAppender(Path folder, int contexts, InstantSource clock) {
    var random = new SplittableRandom(1);
    log = SqliteLog.open(new SqliteLog.Parts(folder, clock, random, Tuning.DEFAULT));
    conversations =
        IntStream.range(0, contexts)
            .mapToObj(_ -> new Conversation(new ContextId(id()), task(), new BlockId(id())))
            .toArray(Conversation[]::new);
    for (var i = 0; i < contexts; i++) {
      log.create(conversations[i].context(), new ContextCreated("local", null, null));
      append(i, new TaskCreated(Initiator.USER, null, null, null, null, null, null, null));
      append(i, new TaskStatus(TaskState.WORKING, null, null));
    }
  }

  private static Origin task() {
    return Origin.root(new TaskId(id()), new AgentTypeId("agent-code"));
  }

  private static String id() {
    return UUID.randomUUID().toString();
  }

  @Override
  public String name() {
    return "Parley";
  }

  @Override
  public void append(int context, int index, String text) {
    append(context, new ContentDelta(text, index, conversations[context].block()));
  }

  private void append(int context, Event event) {
    var to = conversations[context];
    log.append(to.context(), Guard.none(), Decision.always(new Draft(to.task(), event)));
  }

  /// Bytes that are not in segments yet.
  long unsealedBytes() {
    return log.unsealedBytes();
  }

  @Override
  public void close() {
    log.close();
  }
}
