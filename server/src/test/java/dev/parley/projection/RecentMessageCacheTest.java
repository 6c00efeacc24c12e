package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.C;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ClockTime;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The cached latest messages are the same as those in the tables.
class RecentMessageCacheTest {

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void what_is_kept_equals_what_the_tables_tell_after_edits_and_rewinds_too(long seed) {
    var millis = new AtomicLong();
    var log = new MemoryLog(new ClockTime(() -> Instant.ofEpochMilli(millis.addAndGet(7))));
    var context = new ContextId("c0");
    var random = new Random(seed);
    var randomEventWriter = new RandomEventWriter(log, random, context, true);
    try (var views = TestViews.open(folder.resolve("views.db"), log)) {
      for (var i = 0; i < 600; i++) {
        randomEventWriter.step();
        if (random.nextInt(3) == 0) {
          var all = views.messages(context, 0, 1000).items();
          assertThat(views.latestMessages(context, 1000)).isEqualTo(all);
        }
      }
    }
  }

  @Test
  void no_more_than_was_asked_for_are_kept() {
    try (var viewsFixture = new ViewsFixture(folder)) {
      viewsFixture.addMessage("m1", "one");
      assertThat(viewsFixture.views.latestMessages(C, 2)).hasSize(1);
      viewsFixture.addMessage("m2", "two");
      viewsFixture.addMessage("m3", "three");

      assertThat(viewsFixture.views.latestMessages(C, 2))
          .extracting(MessageView::content)
          .containsExactly("two", "three");
      assertThat(viewsFixture.views.latestMessages(C, 3)).hasSize(3);
    }
  }

  @Test
  void more_new_entries_than_are_looked_through_are_left_to_the_tables() {
    try (var viewsFixture = new ViewsFixture(folder)) {
      viewsFixture.addMessage("m0", "first");
      assertThat(viewsFixture.views.latestMessages(C, 1000)).hasSize(1);
      for (var i = 1; i <= RecentMessageCache.TAIL_MAX; i++) {
        viewsFixture.addMessage("m" + i, "more");
      }

      assertThat(viewsFixture.views.latestMessages(C, 1000)).hasSize(1000);
    }
  }

  @Test
  void contexts_that_were_used_long_ago_are_dropped_if_the_cache_is_full() {
    var log = new MemoryLog(new ClockTime(Instant::now));
    var cache = new RecentMessageCache(log, 80_000);
    var contexts = IntStream.range(0, 30).mapToObj(i -> new ContextId("c" + i)).toList();
    for (var context : contexts) {
      log.create(context, new ContextCreated("user", null, null));
      append(log, context, "x".repeat(5_000));
      assertThat(cache.latest(context, 10)).hasValueSatisfying(all -> assertThat(all).hasSize(1));
    }

    // 14 of the 30 messages of 5,600 bytes fit.
    assertThat(cache.contexts()).isEqualTo(14);
    for (var context : contexts) {
      assertThat(cache.latest(context, 10)).hasValueSatisfying(all -> assertThat(all).hasSize(1));
    }
  }

  @Test
  void a_conversation_with_long_messages_is_not_kept() {
    var log = new MemoryLog(new ClockTime(Instant::now));
    var cache = new RecentMessageCache(log, 80_000);
    log.create(C, new ContextCreated("user", null, null));
    append(log, C, "x".repeat(20_000));

    assertThat(cache.latest(C, 10)).hasValueSatisfying(all -> assertThat(all).hasSize(1));
    assertThat(cache.contexts()).isZero();
  }

  @Test
  void a_deleted_context_is_not_remembered() {
    try (var viewsFixture = new ViewsFixture(folder)) {
      viewsFixture.addMessage("m1", "secret");
      viewsFixture.views.latestMessages(C, 10);
      viewsFixture.log.delete(C);
      viewsFixture.views.forget(C);

      assertThatThrownBy(() -> viewsFixture.views.latestMessages(C, 10))
          .isInstanceOf(Rejection.Gone.class);
    }
  }

  private static void append(MemoryLog log, ContextId context, String content) {
    log.append(
        context,
        AppendGuard.none(),
        Decision.always(EventDraft.of(ViewsFixture.message("m1", content))));
  }
}
