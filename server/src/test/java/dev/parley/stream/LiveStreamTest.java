package dev.parley.stream;

import dev.parley.http.Metrics;
import dev.parley.http.OpenStreams;
import dev.parley.http.RecordingConnection;
import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Streams of one context that wait without a thread, on connections that fail in every way.
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class LiveStreamTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  /// So many streams that each delivery thread has several.
  private static final int MANY = 12;

  private final ManualTime time = new ManualTime();
  private final MemoryLog log = new MemoryLog(time);
  private final Metrics metrics = new Metrics();
  private final OpenStreams streams = new OpenStreams(100, time);
  private final LiveStreams live = new LiveStreams(new SystemThreads(), time, HEARTBEAT);
  private final StreamDependencies dependencies =
      new StreamDependencies(
          log, new FrameCache(log, 1 << 20), streams, live, metrics, time, HEARTBEAT);

  LiveStreamTest() {
    log.create(CONTEXT, new ContextCreated("local", null, null));
  }

  @AfterEach
  void close() {
    live.close();
  }

  @Test
  void a_filter_that_looks_up_tasks_delays_no_other_reader() throws Exception {
    var root = Origin.root(new TaskId("root"), new AgentTypeId("agent"));
    var middle = below(root, "middle");
    var leaf = below(middle, "leaf");
    var deepest = below(leaf, "deepest");
    for (var origin : List.of(root, middle, leaf)) {
      append(new EventDraft(origin, created()));
    }
    var answered = new CountDownLatch(1);
    var parents = Map.of(middle.taskId(), root.taskId(), leaf.taskId(), middle.taskId());
    var filter =
        filter(
            Map.of("rootTaskId", "middle"),
            task -> {
              awaitUninterrupted(answered);
              return Optional.ofNullable(parents.get(task));
            });
    var plain = openMany();
    var filtered = open(new RecordingConnection(), filter);

    append(new EventDraft(deepest, created()));
    append("later");

    for (var connection : plain) {
      connection.await("deepest");
      connection.await("later");
    }
    answered.countDown();
    filtered.await("deepest");
  }

  private List<RecordingConnection> openMany() throws IOException {
    var connections = new ArrayList<RecordingConnection>();
    for (var i = 0; i < MANY; i++) {
      connections.add(open(new RecordingConnection(), EventFilter.ALL));
    }
    return connections;
  }

  private RecordingConnection open(RecordingConnection connection, EventFilter filter)
      throws IOException {
    new ContextStream(
            dependencies,
            new ContextStream.StreamRequest(
                CONTEXT, Position.START, filter, NativeFormat.INSTANCE, false, null, null))
        .run(connection);
    return connection;
  }

  private static EventFilter filter(
      Map<String, String> query, Function<TaskId, Optional<TaskId>> parentOf) {
    return EventFilter.of(name -> Optional.ofNullable(query.get(name)), parentOf);
  }

  private void append(String title) {
    append(EventDraft.of(new ContextUpdated(title, null)));
  }

  private void append(EventDraft eventDraft) {
    log.append(CONTEXT, AppendGuard.none(), Decision.always(eventDraft));
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
    }
  }

  private static TaskCreated created() {
    return new TaskCreated(Initiator.AGENT, null, null, "go", null, null, null, null);
  }

  private static Origin below(Origin parent, String task) {
    return new Origin(
        new TaskId(task),
        parent.taskId(),
        parent.rootTaskId(),
        new AgentTypeId("agent"),
        AgentLevel.SUBAGENT,
        new InvocationId("i-" + task),
        null,
        null);
  }
}
