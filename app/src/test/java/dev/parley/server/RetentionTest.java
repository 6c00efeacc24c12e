package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.api.ContextDeletion;
import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.SystemThreads;
import dev.parley.stream.FrameCache;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// CHAT-91, CORE-18.
@Timeout(60)
class RetentionTest {

  @TempDir Path folder;

  @Test
  void idle_contexts_go_and_those_in_use_stay() {
    var time = new ManualTime();
    var log = new MemoryLog(time);
    var config = TestServer.config(folder).keepingDataIn(folder);
    var serverSources = new Server.ServerSources(time, new SystemThreads(), UUID::randomUUID);
    var serverDependencies =
        new ServerFactory(config, serverSources, TestServer.MODULES).createOn(log);
    var contextDeletion =
        new ContextDeletion(
            log,
            serverDependencies.views(),
            serverDependencies.tasks(),
            new FrameCache(log, 1_000));
    var forgotten = new ArrayList<ContextId>();
    contextDeletion.onDelete(forgotten::add);
    var idle = create(log, "idle");
    var used = create(log, "used");
    var working = create(log, "working");
    log.append(working, AppendGuard.none(), Decision.always(openTask()));

    try (var retention =
        new Retention(serverDependencies.views(), contextDeletion, time, Duration.ofDays(30))) {
      time.advance(Duration.ofDays(29));
      assertThat(retention.sweep()).isZero();
      log.append(
          used, AppendGuard.none(), Decision.always(EventDraft.of(new ContextUpdated("x", null))));
      time.advance(Duration.ofDays(2));
      assertThat(retention.sweep()).isEqualTo(1);
      assertThat(retention.sweep()).isZero();
    }

    assertThat(forgotten).containsExactly(idle);
    assertThatThrownBy(() -> log.head(idle)).isInstanceOf(Rejection.Gone.class);
    assertThat(log.head(used).seq()).isEqualTo(2);
    assertThat(log.head(working).seq()).isEqualTo(2);
    serverDependencies.close();
  }

  @Test
  void a_context_that_is_used_while_it_is_being_removed_stays() {
    var config = TestServer.config(folder).keepingDataIn(folder);
    var serverDependencies =
        new ServerFactory(config, Server.ServerSources.real(), TestServer.MODULES).create();
    try {
      var log = serverDependencies.log();
      var contextDeletion =
          new ContextDeletion(
              log,
              serverDependencies.views(),
              serverDependencies.tasks(),
              new FrameCache(log, 1_000));
      var context = create(log, "used");
      var idle = serverDependencies.views().context(context).position();
      log.append(
          context,
          AppendGuard.none(),
          Decision.always(EventDraft.of(new ContextUpdated("x", null))));

      assertThatThrownBy(() -> contextDeletion.deleteUnused(context, idle))
          .isInstanceOf(Rejection.Stale.class);
      assertThat(log.head(context).seq()).isEqualTo(2);

      contextDeletion.deleteUnused(context, log.head(context));
      assertThatThrownBy(() -> log.head(context)).isInstanceOf(Rejection.Gone.class);
    } finally {
      serverDependencies.close();
    }
  }

  @Test
  void a_sweep_that_fails_is_tried_again() throws Exception {
    var time = new ManualTime();
    var failures = new CountDownLatch(1);
    var memory = new MemoryLog(time);
    var log = failingOnce(memory, failures);
    var config = TestServer.config(folder).keepingDataIn(folder);
    var serverSources = new Server.ServerSources(time, new SystemThreads(), UUID::randomUUID);
    var serverDependencies =
        new ServerFactory(config, serverSources, TestServer.MODULES).createOn(log);
    var removed = new CountDownLatch(1);
    var contextDeletion =
        new ContextDeletion(
            log,
            serverDependencies.views(),
            serverDependencies.tasks(),
            new FrameCache(log, 1_000));
    contextDeletion.onDelete(_ -> removed.countDown());
    create(memory, "idle");
    time.advance(Duration.ofDays(1));

    try (var retention =
        new Retention(serverDependencies.views(), contextDeletion, time, Duration.ofSeconds(1))) {
      retention.start(new SystemThreads());
      time.advanceToWait("retention");
      failures.await();
      time.advanceToWait("retention");
      removed.await();
    }
    serverDependencies.close();
  }

  /// Cannot be asked by retention the first time.
  private static EventLog failingOnce(EventLog log, CountDownLatch failures) {
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              if (method.getName().equals("changes")
                  && Thread.currentThread().getName().equals("retention")
                  && failures.getCount() > 0) {
                failures.countDown();
                throw new Rejection.Unavailable("not now");
              }
              try {
                return method.invoke(log, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }

  private static ContextId create(EventLog log, String name) {
    var context = new ContextId(name);
    log.create(context, new ContextCreated("local", null, null));
    return context;
  }

  private static EventDraft openTask() {
    return new EventDraft(
        Origin.root(new TaskId("t"), new AgentTypeId("a")),
        new TaskCreated(Initiator.USER, null, null, null, null, null, null, null));
  }
}
