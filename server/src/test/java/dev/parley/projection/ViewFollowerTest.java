package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.EventLog;
import dev.parley.log.FatalHandler;
import dev.parley.log.LogEncryption;
import dev.parley.log.LogTuning;
import dev.parley.log.PostgresLog;
import dev.parley.log.PostgresLog.PostgresReaderDependencies;
import dev.parley.log.TestLogs;
import dev.parley.log.TestPostgres;
import dev.parley.projection.ContextFeed.FeedCursor;
import dev.parley.projection.ContextFeed.FeedStart;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Rejection;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A standby server keeps its views up to date with the sealed part of the log.
final class ViewFollowerTest {

  private static final int CONTEXTS = 40;

  @TempDir Path folder;

  private final String url = TestPostgres.createDatabase();

  @Test
  void views_that_followed_a_log_need_no_more_entries_of_it() throws InterruptedException {
    writeContexts();
    followToTheEnd();

    var read = new AtomicInteger();
    try (var log = TestPostgres.open(url);
        var views = open(counting(log, read))) {
      assertThat(contexts(views)).hasSize(CONTEXTS);
      assertThat(read).hasValue(0);
    }
  }

  @Test
  void entries_that_were_not_sealed_are_added_when_the_server_takes_over()
      throws InterruptedException {
    try (var log = TestPostgres.open(url)) {
      create(log, "early");
      followTo(1);
      create(log, "late");
    }
    try (var log = TestPostgres.open(url);
        var views = open(log)) {
      assertThat(contexts(views)).containsExactlyInAnyOrder("early", "late");
    }
  }

  @Test
  void the_feed_of_a_server_that_takes_over_accepts_no_earlier_cursor() {
    FeedCursor before;
    try (var log = TestPostgres.open(url)) {
      create(log, "a");
      try (var views = open(log)) {
        assertThat(contexts(views)).containsExactly("a");
        before = views.feed().end();
        create(log, "b");
      }
    }
    try (var log = TestPostgres.open(url);
        var views = open(log)) {
      assertThat(contexts(views)).containsExactlyInAnyOrder("a", "b");
      Assertions.assertThatThrownBy(() -> views.feed().readAfter(before, 10))
          .isInstanceOf(Rejection.Invalid.class)
          .hasMessageContaining("no longer available");
      var now = views.feed().end();
      create(log, "c");
      assertThat(contexts(views)).contains("c");
      assertThat(views.feed().readAfter(now, 10).entries())
          .extracting(entry -> entry.context().value())
          .containsExactly("c");
    }
  }

  private void writeContexts() {
    try (var log = TestPostgres.open(url)) {
      for (var i = 0; i < CONTEXTS; i++) {
        create(log, "c" + i);
      }
    }
  }

  /// All entries are sealed, because the log was closed.
  private void followToTheEnd() throws InterruptedException {
    followTo(CONTEXTS);
  }

  /// Follows the log until the changes of so many contexts are processed, as far as it is sealed.
  private void followTo(int contexts) throws InterruptedException {
    var runtime = new ViewsRuntime(TestLogs.TIME, TestLogs.THREADS, FatalHandler.NONE);
    try (var sealed =
            PostgresLog.openSealed(
                new PostgresReaderDependencies(
                    TestPostgres.database(url),
                    TestLogs.TIME,
                    TestLogs.THREADS,
                    LogTuning.DEFAULT,
                    LogEncryption.none()));
        var follower = new ViewFollower(file(), sealed, runtime)) {
      assertThat(follower.await(sealed.changes(0, contexts).mark(), Duration.ofSeconds(60)))
          .isTrue();
    }
  }

  private static void create(EventLog log, String id) {
    log.create(new ContextId(id), new ContextCreated("local", null, null));
  }

  private static EventLog counting(EventLog log, AtomicInteger read) {
    return (EventLog)
        Proxy.newProxyInstance(
            EventLog.class.getClassLoader(),
            new Class<?>[] {EventLog.class},
            (_, method, arguments) -> {
              // Opening the views compares a few entries with the log, one by one.
              if (method.getName().equals("read") && !Integer.valueOf(1).equals(arguments[2])) {
                read.incrementAndGet();
              }
              try {
                return method.invoke(log, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }

  private Views open(EventLog log) {
    return new Views(
        ViewStorage.in(file()),
        log,
        new ViewsRuntime(TestLogs.TIME, TestLogs.THREADS, FatalHandler.NONE),
        FeedStart.RESTART);
  }

  private Path file() {
    return folder.resolve("views.db");
  }

  private static List<String> contexts(Views views) {
    return views.contexts(VisibleContexts.ALL, null, 100).items().stream()
        .map(ContextView::contextId)
        .map(ContextId::value)
        .toList();
  }
}
