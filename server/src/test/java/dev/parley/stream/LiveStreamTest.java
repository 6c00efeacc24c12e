package dev.parley.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.http.FrameStream.DetachedSink.WriteResult;
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
import dev.parley.runtime.Threads;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
  private final FailingThreads threads = new FailingThreads();
  private final LiveStreams live = new LiveStreams(threads, time, HEARTBEAT);
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
    awaitAll(plain, "deepest");
    append("later");
    awaitAll(plain, "later");

    answered.countDown();
    filtered.await("deepest");
  }

  @Test
  void a_connection_that_cannot_be_closed_ends_only_its_own_stream() throws Exception {
    var before = openMany();
    var broken = new RecordingConnection(() -> {}, LiveStreamTest::fail);
    open(broken, EventFilter.ALL);
    var after = openMany();
    broken.answer(WriteResult.FAILED);

    append("one");
    broken.await("aborted");
    append("two");

    awaitAll(before, "two");
    awaitAll(after, "two");
    streams.awaitCount(2 * MANY, Duration.ofSeconds(20));
    assertThat(streams.count()).isEqualTo(2 * MANY);
    assertThat(live.count()).isEqualTo(2 * MANY);
  }

  @Test
  void a_stream_for_which_no_thread_starts_ends_alone() throws Exception {
    var slow = new RecordingConnection();
    var all = openMany();
    open(slow, EventFilter.ALL);
    slow.answer(WriteResult.LATER);
    append("one");
    awaitAll(all, "one");
    threads.failures.set(1);

    slow.endWrite(true);
    slow.await("aborted");
    append("two");

    awaitAll(all, "two");
    assertThat(streams.count()).isEqualTo(MANY);
  }

  @Test
  void heartbeats_continue_if_no_thread_starts_for_one_of_them() throws Exception {
    var all = openMany();
    threads.failures.set(1);

    time.advanceToTimer("heartbeats");
    streams.awaitCount(MANY - 1, Duration.ofSeconds(20));
    append("one");
    time.advanceToTimer("heartbeats");

    var ended = 0;
    for (var connection : all) {
      ended += connection.await("one", "aborted").equals("aborted") ? 1 : 0;
    }
    assertThat(ended).isEqualTo(1);
    assertThat(time.awaitTimer("heartbeats")).isPositive();
  }

  @Test
  void the_lag_of_an_event_ends_when_it_is_written() throws Exception {
    var connection = new RecordingConnection(() -> time.advance(Duration.ofSeconds(2)), () -> {});
    open(connection, EventFilter.ALL);

    append("one");
    connection.await("one");
    append("two");
    connection.await("two");
    connection.answer(WriteResult.LATER);
    append("three");
    connection.await("three");
    assertThat(lag("sum")).isEqualTo("4");

    time.advance(Duration.ofSeconds(3));
    connection.endWrite(true);
    assertThat(lag("sum")).isEqualTo("9");
  }

  @Test
  void an_event_that_cannot_be_written_has_no_lag() throws Exception {
    var failing = open(new RecordingConnection(), EventFilter.ALL);
    var slow = open(new RecordingConnection(), EventFilter.ALL);
    failing.answer(WriteResult.FAILED);
    slow.answer(WriteResult.LATER);

    append("one");
    failing.await("aborted");
    slow.endWrite(false);
    slow.await("aborted");

    assertThat(lag("count")).isEqualTo("0");
  }

  @Test
  void the_end_of_the_response_follows_the_release_of_the_slot() throws Exception {
    var open = new AtomicInteger(-1);
    var connection = new RecordingConnection(() -> {}, () -> open.set(streams.count()));
    open(connection, EventFilter.ALL);

    log.delete(CONTEXT);

    connection.await("finished");
    assertThat(open).hasValue(0);
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

  private static void awaitAll(List<RecordingConnection> connections, String text)
      throws InterruptedException {
    for (var connection : connections) {
      connection.await(text);
    }
  }

  /// The sum or the count of the lags that were recorded.
  private String lag(String part) {
    var name = "parley_publish_lag_seconds_" + part + " ";
    return metrics
        .exposition()
        .lines()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()))
        .findFirst()
        .orElse("none");
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

  private static void fail() {
    throw new IllegalStateException("the connection is broken");
  }

  /// Threads of the JVM, of which the next ones of streams do not start.
  private static final class FailingThreads implements Threads {
    private final Threads threads = new SystemThreads();
    private final AtomicInteger failures = new AtomicInteger();

    @Override
    public Thread unstarted(String name, Runnable work) {
      if (name.equals("live-stream") && failures.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        throw new IllegalStateException("no thread");
      }
      return threads.unstarted(name, work);
    }

    @Override
    public ThreadFactory factory(String prefix) {
      return threads.factory(prefix);
    }

    @Override
    public ThreadFactory platformFactory(String name) {
      return threads.platformFactory(name);
    }
  }
}
