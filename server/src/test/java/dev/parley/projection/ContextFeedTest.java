package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.log.BlockLog;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.SqliteLog;
import dev.parley.log.TestLogs;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.runtime.ManualTime;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The feed lists changes of all contexts in one order, and a reader can resume it (CHAT-28).
class ContextFeedTest {

  private static final ContextId A = new ContextId("a");
  private static final ContextId B = new ContextId("b");
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir private Path folder;
  private BlockLog log;
  private Views views;

  @BeforeEach
  void open() {
    log = log();
    views = TestViews.open(folder.resolve("views.db"), log);
    views.contexts(VisibleContexts.ALL, null, 1);
  }

  private BlockLog log() {
    return SqliteLog.open(TestLogs.in(folder));
  }

  @AfterEach
  void close() {
    views.close();
    log.close();
  }

  @Test
  void what_happens_in_any_context_is_told_once_and_in_order() throws Exception {
    var feedCursor = views.feed().end();
    create(A);
    create(B);
    update(A, "one");

    var moves =
        movesUntil(
            feedCursor, all -> reached(all, A, Position.of(2)) && reached(all, B, Position.of(1)));

    assertThat(moves).extracting(ContextFeed.FeedEntry::owner).containsOnly("ada");
    assertThat(stretches(moves, A)).isEqualTo("0>2");
    assertThat(stretches(moves, B)).isEqualTo("0>1");
  }

  @Test
  void a_cursor_outlives_a_restart() throws Exception {
    var before = start();
    create(A);
    var cursor =
        views.feed().readAfter(movesUntil(before, A, Position.of(1)).getLast().cursor(), 9);
    close();
    open();
    update(A, "two");

    var moves = movesUntil(cursor.next(), A, Position.of(2));

    assertThat(stretches(moves, A)).isEqualTo("1>2");
  }

  @Test
  void a_move_can_be_taken_up_in_the_middle() throws Exception {
    var before = start();
    create(A);
    update(A, "two");
    update(A, "three");
    var feedEntry = movesUntil(before, A, Position.of(3)).getLast();

    var rest =
        views.feed().readAfter(feedEntry.cursor().within(Position.of(2)), 9).entries().getFirst();

    assertThat(rest.from()).isEqualTo(Position.of(2));
    assertThat(rest.to()).isEqualTo(feedEntry.to());
  }

  @Test
  void a_deleted_context_is_told_as_such_and_leaves_nothing_else() throws Exception {
    var feedCursor = start();
    create(A);
    movesUntil(feedCursor, A, Position.of(1));
    log.delete(A);
    views.forget(A);

    var moves = movesUntil(feedCursor, A, null);

    assertThat(moves).filteredOn(feedEntry -> feedEntry.context().equals(A)).hasSize(1);
  }

  @Test
  void the_shared_past_of_a_fork_is_not_told_again() throws Exception {
    create(A);
    update(A, "two");
    var feedCursor = start();
    log.fork(B, new ContextForked(A, 2, "ada", null));

    var moves = movesUntil(feedCursor, B, Position.of(3));

    assertThat(stretches(moves, B)).isEqualTo("2>3");
  }

  @Test
  void who_watches_from_before_anything_happened_is_told_everything() throws Exception {
    close();
    folder = Files.createDirectory(folder.resolve("new"));
    log = log();
    // No query has been made, which would update the views.
    views = TestViews.open(folder.resolve("views.db"), log);
    var feedCursor = views.feed().end();

    create(A);

    assertThat(stretches(movesUntil(feedCursor, A, Position.of(1)), A)).isEqualTo("0>1");
  }

  @Test
  void after_views_are_made_anew_an_old_cursor_is_refused_by_name() throws Exception {
    var before = start();
    create(A);
    var feedCursor = movesUntil(before, A, Position.of(1)).getLast().cursor();
    update(A, "two");
    close();
    Files.delete(folder.resolve("views.db"));
    open();

    assertThatThrownBy(() -> views.feed().readAfter(feedCursor, 9))
        .isInstanceOfSatisfying(
            Rejection.Invalid.class, lost -> assertThat(lost.code()).isEqualTo("cursor-lost"));
  }

  @Test
  void a_cursor_is_written_and_read_back() {
    for (var feedCursor :
        List.of(
            new ContextFeed.FeedCursor(7, 0),
            new ContextFeed.FeedCursor(7, 3, new Position(17, 2)),
            start())) {
      assertThat(ContextFeed.FeedCursor.parse(feedCursor.toString())).isEqualTo(feedCursor);
    }
    for (var wrong : List.of("", "7", "a-b", "-1-2", "1-2-3-4", "1-2-x")) {
      assertThatThrownBy(() -> ContextFeed.FeedCursor.parse(wrong))
          .isInstanceOf(Rejection.Invalid.class);
    }
  }

  @Test
  void nobody_who_waits_misses_anything_while_many_write() throws Exception {
    var feedCursor = start();
    var writers = new ArrayList<Thread>();
    for (var i = 0; i < 8; i++) {
      var context = new ContextId("c" + i);
      writers.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    create(context);
                    for (var n = 0; n < 100; n++) {
                      update(context, "n" + n);
                    }
                  }));
    }
    var reached = new HashMap<ContextId, Position>();
    while (reached.size() < 8
        || reached.values().stream().anyMatch(at -> !at.equals(Position.of(101)))) {
      assertThat(views.feed().await(feedCursor, PATIENCE)).isTrue();
      var feedPage = views.feed().readAfter(feedCursor, 5);
      for (var feedEntry : feedPage.entries()) {
        assertThat(feedEntry.from())
            .isEqualTo(reached.getOrDefault(feedEntry.context(), Position.START));
        reached.put(feedEntry.context(), feedEntry.to());
      }
      feedCursor = feedPage.next();
    }
    for (var writer : writers) {
      writer.join();
    }
  }

  @Test
  void who_only_looks_does_not_wake_the_thread_that_updates_the_views() throws Exception {
    var time = new ManualTime();
    var feed = new ContextFeed(log, null, time);
    var pause = Duration.ofSeconds(1);
    var follower =
        ManualTime.start(
            "follower",
            () -> {
              feed.awaitChanges(pause);
              return true;
            });
    time.awaitWait("follower");

    for (var i = 0; i < 10_000; i++) {
      assertThat(feed.await(new ContextFeed.FeedCursor(0, Integer.MAX_VALUE), Duration.ZERO))
          .isFalse();
    }

    assertThat(follower).isNotDone();
    time.advance(pause);
    assertThat(follower.get(20, TimeUnit.SECONDS)).isTrue();
  }

  private ContextFeed.FeedCursor start() {
    views.contexts(VisibleContexts.ALL, null, 1);
    return views.feed().end();
  }

  private List<ContextFeed.FeedEntry> movesUntil(
      ContextFeed.FeedCursor from, ContextId context, Position to) throws InterruptedException {
    return movesUntil(from, moves -> reached(moves, context, to));
  }

  private static boolean reached(
      List<ContextFeed.FeedEntry> moves, ContextId context, Position to) {
    return moves.stream()
        .anyMatch(feedEntry -> feedEntry.context().equals(context) && reaches(feedEntry.to(), to));
  }

  private List<ContextFeed.FeedEntry> movesUntil(
      ContextFeed.FeedCursor from, Predicate<List<ContextFeed.FeedEntry>> enough)
      throws InterruptedException {
    var moves = new ArrayList<ContextFeed.FeedEntry>();
    var feedCursor = from;
    while (!enough.test(moves)) {
      assertThat(views.feed().await(feedCursor, PATIENCE)).isTrue();
      var feedPage = views.feed().readAfter(feedCursor, 9);
      moves.addAll(feedPage.entries());
      feedCursor = feedPage.next();
    }
    return moves;
  }

  private static boolean reaches(Position at, Position wanted) {
    return wanted == null ? at == null : wanted.equals(at);
  }

  /// Joins the ranges of a context: `0>2` if they follow each other without a gap.
  private static String stretches(List<ContextFeed.FeedEntry> moves, ContextId context) {
    var own = moves.stream().filter(feedEntry -> feedEntry.context().equals(context)).toList();
    for (var i = 1; i < own.size(); i++) {
      assertThat(own.get(i).from()).isEqualTo(own.get(i - 1).to());
    }
    return own.getFirst().from() + ">" + own.getLast().to();
  }

  private void create(ContextId context) {
    log.create(context, new ContextCreated("ada", null, null));
  }

  private void update(ContextId context, String title) {
    log.append(
        context,
        AppendGuard.none(),
        Decision.always(EventDraft.of(new ContextUpdated(title, null))));
  }
}
