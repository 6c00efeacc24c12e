package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.log.BlockLog;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.SqliteLog;
import dev.parley.log.TestLogs;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import dev.parley.runtime.Time;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Views of many short contexts that are computed from an existing log.
class ViewCatchUpTest {

  private static final int CONTEXTS = 1_500;

  @TempDir Path folder;

  private BlockLog log;
  private String expected;

  @BeforeEach
  void write() {
    log = SqliteLog.open(TestLogs.in(folder.resolve("log")));
    for (var i = 0; i < CONTEXTS; i++) {
      log.create(context(i), new ContextCreated("ada", "title " + i, null));
    }
    try (var views = TestViews.open(folder.resolve("expected.db"), log)) {
      expected = views.dump();
    }
  }

  @AfterEach
  void close() {
    log.close();
  }

  private static ContextId context(int number) {
    return new ContextId("c" + number);
  }

  private static ViewCatchUp catchUp(EventLog log, ViewThread thread, Time time) {
    return new ViewCatchUp(
        log, thread, new ViewUpdater(log, thread), new ContextFeed(log, thread, time), time);
  }

  /// Calls `beforeRead` with the number of each read of entries.
  private EventLog watched(ReadAction beforeRead) {
    var reads = new AtomicInteger();
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              if (method.getName().equals("read")) {
                beforeRead.run(reads.incrementAndGet());
              }
              try {
                return method.invoke(log, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            });
  }

  private interface ReadAction {
    void run(int number) throws Exception;
  }

  private Path file() {
    return folder.resolve("views.db");
  }

  private static int contexts(ViewThread thread) {
    return thread.call(viewTables -> (int) viewTables.contexts().count(VisibleContexts.ALL));
  }

  /// Catches up until the log fails at this read, and returns the number of saved contexts.
  private int catchUpUntil(int lastRead) {
    var failing =
        watched(
            number -> {
              if (number == lastRead) {
                throw new IllegalStateException("the process was killed");
              }
            });
    try (var thread = ViewThread.forFile(file(), TestViews.RUNTIME)) {
      assertThatThrownBy(catchUp(failing, thread, TestLogs.TIME)::updateAll)
          .isInstanceOf(IllegalStateException.class);
      return contexts(thread);
    }
  }

  @Test
  void a_batch_of_contexts_is_saved_together_and_is_limited() {
    var batch = ViewCatchUp.CONTEXTS_PAGE;

    assertThat(catchUpUntil(batch)).isZero();
    assertThat(catchUpUntil(batch + 1)).isEqualTo(batch);
  }

  @Test
  void a_batch_of_large_contexts_is_limited_by_its_size() {
    try (var thread = ViewThread.forFile(file(), TestViews.RUNTIME)) {
      catchUp(log, thread, TestLogs.TIME).updateAll();
    }
    var large = 20;
    for (var i = 0; i < large; i++) {
      var context = new ContextId("large" + i);
      log.create(context, new ContextCreated("ada", null, null));
      append(context, ViewsFixture.message("m", "x".repeat(1_000_000)));
    }

    assertThat(catchUpUntil(large)).isBetween(CONTEXTS + 8, CONTEXTS + large);
  }

  private void append(ContextId context, Event event) {
    log.append(context, AppendGuard.none(), Decision.always(EventDraft.of(event)));
  }

  @Test
  void a_feed_that_is_discarded_during_the_last_page_is_live_only_when_it_is_complete() {
    try (var thread = ViewThread.forFile(file(), TestViews.RUNTIME)) {
      var discarding =
          watched(
              number -> {
                if (number == CONTEXTS) {
                  thread.reset();
                }
              });
      var contextFeed = new ContextFeed(log, thread, TestLogs.TIME);
      var catchUp =
          new ViewCatchUp(
              discarding, thread, new ViewUpdater(discarding, thread), contextFeed, TestLogs.TIME);

      catchUp.updateAll();
      assertThat(live(thread)).isFalse();
      catchUp.updateAll();
      assertThat(live(thread)).isTrue();
      var end = contextFeed.end();
      append(context(0), new ContextUpdated("new title", null));
      catchUp.updateAll();

      assertThat(contextFeed.readAfter(end, 9).entries())
          .singleElement()
          .extracting(ContextFeed.FeedEntry::context, ContextFeed.FeedEntry::from)
          .containsExactly(context(0), Position.of(1));
    }
  }

  private static boolean live(ViewThread thread) {
    return thread.call(
        viewTables ->
            viewTables.sql().first("SELECT live FROM feed", row -> row.flag("live")).orElse(false));
  }

  @Test
  void a_catch_up_that_was_interrupted_continues() {
    catchUpUntil(1_200);

    try (var views = TestViews.open(file(), log)) {
      assertThat(views.dump()).isEqualTo(expected);
    }
  }

  @Test
  void views_whose_last_writes_are_missing_are_completed() throws Exception {
    var wal = folder.resolve("views.db-wal");
    try (var thread = ViewThread.forFile(file(), TestViews.RUNTIME)) {
      catchUp(log, thread, TestLogs.TIME).updateAll();
      var size = Files.size(wal);
      for (var part = 0; part <= 8; part++) {
        var copy = folder.resolve("copy" + part + ".db");
        Files.copy(file(), copy);
        truncatedCopy(wal, folder.resolve("copy" + part + ".db-wal"), size * part / 8);
        try (var views = TestViews.open(copy, log)) {
          assertThat(views.dump()).isEqualTo(expected);
        }
      }
    }
  }

  private static void truncatedCopy(Path from, Path to, long size) throws IOException {
    Files.copy(from, to);
    try (var file = new RandomAccessFile(to.toFile(), "rw")) {
      file.setLength(size);
    }
  }

  @Test
  void a_query_for_one_context_does_not_wait_for_the_catch_up() throws Exception {
    var reached = new CountDownLatch(1);
    var answered = new CountDownLatch(1);
    var waiting =
        watched(
            number -> {
              if (number == CONTEXTS / 2) {
                reached.countDown();
                answered.await();
              }
            });
    try (var thread = ViewThread.forFile(file(), TestViews.RUNTIME)) {
      var background =
          Thread.ofVirtual().start(() -> catchUp(waiting, thread, TestLogs.TIME).updateAll());
      reached.await();
      var last = context(CONTEXTS - 1);

      var found =
          new ViewUpdater(log, thread).query(last, viewTables -> viewTables.contexts().find(last));

      answered.countDown();
      background.join();
      assertThat(found.orElseThrow().title()).isEqualTo("title " + (CONTEXTS - 1));
      assertThat(thread.call(ViewTables::dump)).isEqualTo(expected);
    }
  }

  @Test
  void a_list_that_would_wait_too_long_reports_the_progress() {
    var time = new ManualTime();
    var slow = watched(_ -> time.advance(Duration.ofSeconds(1)));
    var runtime = new ViewsRuntime(time, TestLogs.THREADS, FatalHandler.NONE);
    try (var thread = ViewThread.forFile(file(), runtime)) {
      var catchUp = catchUp(slow, thread, time);

      assertThat(catchUp.updateAll()).isEqualTo(OptionalLong.empty());
      assertThat(catchUp.unavailable())
          .isInstanceOf(Rejection.Unavailable.class)
          .hasMessageContaining("computing views: 500 of 1,500 contexts");
      catchUp.updateAll();
      assertThat(catchUp.updateAll()).isPresent();
      assertThat(thread.call(ViewTables::dump)).isEqualTo(expected);
    }
  }
}
