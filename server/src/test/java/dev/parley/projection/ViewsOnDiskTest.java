package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.log.SqliteLog;
import dev.parley.log.TestLogs;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Views of an SQLite log, in which one commit may change many contexts.
class ViewsOnDiskTest {

  @TempDir Path folder;

  private EventLog open() {
    return SqliteLog.open(TestLogs.in(folder.resolve("log")));
  }

  private Views views(String name, EventLog log) {
    return TestViews.open(folder.resolve(name), log);
  }

  /// Appends to many contexts concurrently, each on its own thread.
  private static void tell(EventLog log, int contexts, int steps)
      throws InterruptedException, ExecutionException {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var told = new ArrayList<Future<?>>();
      for (var i = 0; i < contexts; i++) {
        var randomEventWriter =
            new RandomEventWriter(log, new Random(i), new ContextId("c" + i), true);
        told.add(
            threads.submit(
                () -> {
                  for (var j = 0; j < steps; j++) {
                    randomEventWriter.step();
                  }
                }));
      }
      for (var story : told) {
        story.get();
      }
    }
  }

  @Test
  void contexts_that_change_in_one_commit_are_all_taken_in() throws Exception {
    try (var log = open();
        var views = views("views.db", log)) {
      tell(log, 500, 1);

      assertThat(views.contexts(VisibleContexts.ALL, null, 1000).items()).hasSize(500);
    }
  }

  @Test
  void a_log_that_was_put_back_and_written_on_makes_the_views_anew() throws Exception {
    var context = new ContextId("c");
    try (var log = open();
        var views = views("views.db", log)) {
      log.create(context, new ContextCreated("local", "begun", null));
      assertThat(views.context(context).title()).isEqualTo("begun");
    }
    copy("log", "backup");
    try (var log = open();
        var views = views("views.db", log)) {
      retitle(log, context, "lost");
      assertThat(views.context(context).title()).isEqualTo("lost");
      assertThat(views.contexts(VisibleContexts.ALL, null, 10).items()).hasSize(1);
    }
    copy("backup", "log");
    try (var log = open()) {
      log.append(
          context,
          AppendGuard.none(),
          Decision.always(EventDraft.of(new ContextUpdated(null, Json.object().put("a", 1)))));
      for (var i = 0; i < 20; i++) {
        log.create(new ContextId("c" + i), new ContextCreated("local", null, null));
      }
    }

    try (var log = open();
        var views = views("views.db", log)) {
      assertThat(views.context(context).title()).isEqualTo("begun");
    }
  }

  private static void retitle(EventLog log, ContextId context, String title) {
    log.append(
        context,
        AppendGuard.none(),
        Decision.always(EventDraft.of(new ContextUpdated(title, null))));
  }

  private void copy(String from, String to) throws IOException {
    var target = Files.createDirectories(folder.resolve(to));
    try (var old = Files.list(target)) {
      for (var file : old.toList()) {
        Files.delete(file);
      }
    }
    try (var files = Files.list(folder.resolve(from))) {
      for (var file : files.toList()) {
        Files.copy(file, target.resolve(file.getFileName()));
      }
    }
  }

  @Test
  void an_append_that_has_returned_is_in_every_list() throws Exception {
    try (var log = open();
        var views = views("views.db", log);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var writers = new ArrayList<Future<?>>();
      for (var i = 0; i < 100; i++) {
        var id = new ContextId("c" + i);
        writers.add(
            threads.submit(
                () -> {
                  new RandomEventWriter(log, new Random(1), id, false);
                  assertThat(views.contexts(VisibleContexts.ALL, null, 1000).items())
                      .extracting(ContextView::contextId)
                      .contains(id);
                }));
      }
      for (var writer : writers) {
        writer.get();
      }
    }
  }

  @Test
  void views_that_followed_a_busy_log_equal_views_rebuilt() throws Exception {
    String kept;
    try (var log = open();
        var views = views("kept.db", log);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var writing =
          threads.submit(
              () -> {
                tell(log, 150, 40);
                return true;
              });
      do {
        views.contexts(VisibleContexts.ALL, null, 1);
      } while (!writing.isDone());
      writing.get();
      kept = views.dump();
    }
    try (var log = open();
        var reopened = views("kept.db", log);
        var rebuilt = views("rebuilt.db", log)) {
      assertThat(reopened.dump()).isEqualTo(kept);
      assertThat(rebuilt.dump()).isEqualTo(kept);
    }
  }
}
