package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.EventLog;
import dev.parley.log.SqliteLog;
import dev.parley.log.TestLogs;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Views that cannot be written answer all the same.
class UnsavedViewsTest {

  private static final int MORE_THAN_THE_LIMIT = 17_000;

  @TempDir Path folder;

  private ViewThread openThread() {
    return ViewThread.forFile(folder.resolve("unsaved.db"), TestViews.RUNTIME);
  }

  private static ViewUpdater updater(EventLog log, ViewThread thread) {
    return new ViewUpdater(log, thread);
  }

  @Test
  void an_answer_without_saving_is_the_same_and_leaves_nothing() {
    try (var log = SqliteLog.open(TestLogs.in(folder.resolve("log")));
        var thread = openThread()) {
      var updater = updater(log, thread);
      for (var i = 0; i < 4; i++) {
        write(log, i);
        if (i == 1) {
          new ViewCatchUp(
                  log, thread, updater, new ContextFeed(log, thread, TestLogs.TIME), TestLogs.TIME)
              .updateAll();
        }
      }
      log.delete(context(0));
      log.fork(
          new ContextId("fork"),
          new ContextForked(context(1), log.head(context(1)).seq(), null, null));
      var before = thread.call(ViewTables::dump);

      var answer = updater.queryAllUnsaved(ViewTables::dump);

      assertThat(thread.call(ViewTables::dump)).isEqualTo(before);
      try (var rebuilt = TestViews.open(folder.resolve("rebuilt.db"), log)) {
        assertThat(answer).isEqualTo(rebuilt.dump()).isNotEqualTo(before);
      }
    }
  }

  private static void write(EventLog log, int number) {
    var writer = new RandomEventWriter(log, new Random(number), context(number), true);
    for (var i = 0; i < 100; i++) {
      writer.step();
    }
  }

  private static ContextId context(int number) {
    return new ContextId("random" + number);
  }

  @Test
  void views_that_are_too_far_behind_are_unavailable() {
    try (var viewsFixture = new ViewsFixture(folder);
        var thread = openThread()) {
      for (var i = 0; i < MORE_THAN_THE_LIMIT; i++) {
        viewsFixture.addMessage("m" + i, "text");
      }
      var updater = updater(viewsFixture.log, thread);

      assertThatThrownBy(() -> updater.queryAllUnsaved(ViewTables::mark))
          .isInstanceOf(Rejection.Unavailable.class);
    }
  }
}
