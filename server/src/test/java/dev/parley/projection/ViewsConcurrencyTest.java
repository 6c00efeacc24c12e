package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.C;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.ChangedContexts;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.MemoryLog;
import dev.parley.log.TestLogs;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Concurrent queries during appends.
class ViewsConcurrencyTest {

  private static final int READERS = 8;

  @TempDir Path folder;
  private ViewsFixture viewsFixture;

  @BeforeEach
  void open() {
    viewsFixture = new ViewsFixture(folder);
  }

  @AfterEach
  void close() {
    viewsFixture.close();
  }

  /// Runs `ask` repeatedly on several virtual threads until `write` is done.
  private void meanwhile(Callable<?> ask, Runnable write)
      throws InterruptedException, ExecutionException {
    var done = new AtomicBoolean();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var readers = new ArrayList<Future<?>>();
      for (var i = 0; i < READERS; i++) {
        readers.add(
            threads.submit(
                () -> {
                  do {
                    ask.call();
                  } while (!done.get());
                  return true;
                }));
      }
      write.run();
      done.set(true);
      for (var reader : readers) {
        reader.get();
      }
    }
  }

  @Test
  void every_snapshot_is_exactly_of_its_position() throws Exception {
    meanwhile(
        () -> {
          var least = viewsFixture.log.head(C).seq();
          var contextSnapshot = viewsFixture.views.snapshot(C, null, 1000);
          var seq = contextSnapshot.position().seq();
          assertThat(seq).isGreaterThanOrEqualTo(least);
          assertThat(contextSnapshot.messages()).hasSize((int) seq - 1);
          assertThat(contextSnapshot.context().messageCount()).isEqualTo(seq - 1);
          return seq;
        },
        () -> {
          for (var i = 0; i < 300; i++) {
            viewsFixture.addMessage("m" + i, "text");
          }
        });
  }

  @Test
  void what_was_forgotten_does_not_come_back() throws Exception {
    meanwhile(
        () -> {
          for (var i = 0; i < 20; i++) {
            try {
              viewsFixture.views.context(new ContextId("x" + i));
              viewsFixture.views.contexts(VisibleContexts.ALL, null, 10);
            } catch (Rejection.Gone | Rejection.NotFound _) {
              // The context does not exist yet, or was deleted.
            }
          }
          return true;
        },
        () -> {
          for (var i = 0; i < 20; i++) {
            var context = new ContextId("x" + i);
            viewsFixture.log.create(context, new ContextCreated("ada", null, null));
            for (var j = 0; j < 20; j++) {
              viewsFixture.add(context, null, ViewsFixture.message("m" + j, "text"));
            }
            viewsFixture.log.delete(context);
            viewsFixture.views.forget(context);
            assertThat(viewsFixture.views.dump()).doesNotContain("context=" + context + " ");
          }
        });
  }

  @Test
  void the_follower_takes_in_what_nobody_asks_for_and_outlives_a_failure() throws Exception {
    var memory = new MemoryLog();
    memory.create(C, new ContextCreated("ada", null, null));
    var calls = new CountDownLatch(3);
    var log = failingOnce(memory, calls);
    var time = new ManualTime();
    var runtime = new ViewsRuntime(time, TestLogs.THREADS, FatalHandler.NONE);
    try (var thread = ViewThread.inMemory(runtime)) {
      var contextFeed = new ContextFeed(log, thread, time);
      var catchUp = new ViewCatchUp(log, thread, new ViewUpdater(log, thread), contextFeed, time);
      try (var _ = new ViewRefresher(catchUp, thread, contextFeed, runtime)) {
        while (calls.getCount() > 0) {
          time.advanceToWait("views-refresher");
        }
      }
      var found = thread.call(viewTables -> viewTables.contexts().find(C));
      assertThat(found).isPresent();
    }
  }

  @Test
  void many_who_ask_about_a_context_that_is_far_behind_read_its_log_once() throws Exception {
    var pages = 5;
    var memory = new MemoryLog();
    memory.create(C, new ContextCreated("ada", null, null));
    for (var i = 1; i < pages * ViewUpdater.PAGE; i++) {
      memory.append(
          C,
          AppendGuard.none(),
          Decision.always(EventDraft.of(ViewsFixture.message("m" + i, "text"))));
    }
    var reads = new AtomicInteger();
    var gate = new CountDownLatch(1);
    var log = gatedReads(memory, reads, gate);
    try (var thread = ViewThread.inMemory(TestViews.RUNTIME)) {
      var viewUpdater = new ViewUpdater(log, thread);
      var threads = new ArrayList<Thread>();
      for (var i = 0; i < READERS; i++) {
        threads.add(
            Thread.ofPlatform()
                .daemon()
                .start(() -> viewUpdater.query(C, viewTables -> viewTables.contexts().find(C))));
      }
      // One caller waits at the gate and the others for that caller; none uses the views' thread.
      while (!threads.stream()
          .allMatch(t -> LockSupport.getBlocker(t) instanceof AbstractQueuedSynchronizer)) {
        Thread.onSpinWait();
      }
      gate.countDown();
      for (var asking : threads) {
        asking.join();
      }
      Position at = thread.call(viewTables -> viewTables.contexts().position(C));
      assertThat(at).isEqualTo(memory.head(C));
    }
    assertThat(reads.get()).isEqualTo(pages);
  }

  private static EventLog gatedReads(EventLog log, AtomicInteger reads, CountDownLatch gate) {
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              if (method.getName().equals("read")) {
                reads.incrementAndGet();
                gate.await();
              }
              try {
                return method.invoke(log, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            });
  }

  private static EventLog failingOnce(EventLog log, CountDownLatch calls) {
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              if (method.getReturnType() == ChangedContexts.class) {
                calls.countDown();
                if (calls.getCount() == 2) {
                  throw new IllegalStateException("this log fails once");
                }
              }
              try {
                return method.invoke(log, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            });
  }
}
