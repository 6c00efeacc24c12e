package dev.parley.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The contract of all event logs. The test of each log extends it.
abstract class EventLogContract {

  static final ContextId CONTEXT = new ContextId("context-1");
  static final Origin TASK = Origin.root(new TaskId("task-1"), new AgentTypeId("agent"));
  static final BlockId BLOCK = new BlockId("block-1");
  static final Duration LONG = Duration.ofSeconds(20);

  EventLog log;

  abstract EventLog open();

  @BeforeEach
  void openLog() {
    log = open();
    log.create(CONTEXT, created());
  }

  @AfterEach
  void closeLog() {
    log.close();
  }

  static ContextCreated created() {
    return new ContextCreated("local", null, null);
  }

  static EventDraft message(String text) {
    return EventDraft.of(new Message(new MessageId("m-" + text), Role.USER, text, null, null));
  }

  static EventDraft taskCreated() {
    return new EventDraft(
        TASK, new TaskCreated(Initiator.USER, null, null, null, null, null, null, null));
  }

  static EventDraft status(TaskState state) {
    return new EventDraft(TASK, new TaskStatus(state, null, null));
  }

  static EventDraft delta(int index, String text) {
    return new EventDraft(TASK, new ContentDelta(text, index, BLOCK));
  }

  static EventDraft checkpoint(int iteration) {
    return new EventDraft(TASK, new InternalCheckpoint(iteration, null));
  }

  AppendResult append(EventDraft... drafts) {
    return log.append(CONTEXT, AppendGuard.none(), Decision.always(drafts));
  }

  List<Entry> all() {
    var entries = new ArrayList<Entry>();
    var at = Position.START;
    while (true) {
      var page = log.read(CONTEXT, at, 7);
      if (page.isEmpty()) {
        return entries;
      }
      entries.addAll(page);
      at = page.getLast().position();
    }
  }

  @Test
  void a_context_begins_with_its_creation_at_seq_1() {
    assertThat(all()).extracting(Entry::event).containsExactly(created());
    assertThat(log.head(CONTEXT)).isEqualTo(Position.of(1));
    assertThat(log.owner(CONTEXT)).isEqualTo("local");
  }

  @Test
  void creating_twice_changes_nothing() {
    assertThat(log.create(CONTEXT, new ContextCreated("other", null, null))).isFalse();
    assertThat(log.head(CONTEXT)).isEqualTo(Position.of(1));
    assertThat(log.owner(CONTEXT)).isEqualTo("local");
  }

  @Test
  void an_unknown_context_is_not_found() {
    var unknown = new ContextId("unknown");
    assertThatThrownBy(() -> log.head(unknown)).isInstanceOf(Rejection.NotFound.class);
    assertThatThrownBy(() -> log.read(unknown, Position.START, 1))
        .isInstanceOf(Rejection.NotFound.class);
    assertThatThrownBy(() -> log.append(unknown, AppendGuard.none(), _ -> List.of()))
        .isInstanceOf(Rejection.NotFound.class);
    assertThatThrownBy(() -> log.await(unknown, Position.START, Duration.ZERO))
        .isInstanceOf(Rejection.NotFound.class);
  }

  @Test
  void public_events_are_dense_and_internal_ones_stand_between_them() {
    append(taskCreated(), checkpoint(1), checkpoint(2), status(TaskState.WORKING), checkpoint(3));
    assertThat(all())
        .extracting(e -> e.position().toString())
        .containsExactly("1", "2", "2.1", "2.2", "3", "3.1");
  }

  @Test
  void reading_goes_on_from_any_position() {
    append(taskCreated(), checkpoint(1), status(TaskState.WORKING));
    for (var i = 0; i < 50; i++) {
      append(delta(i, "word" + i + " "));
    }
    var entries = all();
    for (var i = 0; i < entries.size(); i++) {
      var rest = log.read(CONTEXT, entries.get(i).position(), 1000);
      assertThat(rest).isEqualTo(entries.subList(i + 1, entries.size()));
    }
  }

  @Test
  void a_decision_that_rejects_leaves_no_trace() {
    assertThatThrownBy(
            () ->
                log.append(
                    CONTEXT,
                    AppendGuard.none(),
                    _ -> {
                      throw new Rejection.Conflict("busy", "not now");
                    }))
        .isInstanceOf(Rejection.Conflict.class);
    assertThat(log.head(CONTEXT)).isEqualTo(Position.of(1));
  }

  @Test
  void a_batch_is_added_whole_or_not_at_all() {
    assertThatThrownBy(() -> append(message("a"), status(TaskState.WORKING)))
        .isInstanceOf(Rejection.Conflict.class);
    assertThat(log.head(CONTEXT)).isEqualTo(Position.of(1));
    append(message("b"));
    assertThat(log.head(CONTEXT)).isEqualTo(Position.of(2));
  }

  @Test
  void nothing_follows_the_end_of_a_task() {
    append(taskCreated(), status(TaskState.WORKING));
    append(status(TaskState.COMPLETED), new EventDraft(TASK, new TaskComplete("done", null, null)));
    assertThatThrownBy(() -> append(delta(0, "late"))).isInstanceOf(Rejection.Conflict.class);
    assertThatThrownBy(() -> append(status(TaskState.FAILED)))
        .isInstanceOf(Rejection.Conflict.class);
    int open = log.inspect(CONTEXT, state -> state.openTasks().size());
    assertThat(open).isZero();
  }

  @Test
  void a_guard_on_the_head_holds_or_is_stale() {
    var head = log.head(CONTEXT);
    log.append(CONTEXT, new AppendGuard.ExpectedHead(head), Decision.always(message("a")));
    assertThatThrownBy(
            () ->
                log.append(
                    CONTEXT, new AppendGuard.ExpectedHead(head), Decision.always(message("b"))))
        .isInstanceOf(Rejection.Stale.class);
  }

  @Test
  void the_same_key_with_the_same_body_answers_as_before() {
    var idempotencyKey = new AppendGuard.IdempotencyKey("local", "key", "hash");
    var first = log.append(CONTEXT, idempotencyKey, Decision.always(message("a"), message("b")));
    var second = log.append(CONTEXT, idempotencyKey, Decision.always(message("c")));
    assertThat(second).isEqualTo(new AppendResult(first.first(), first.last(), true));
    assertThat(log.head(CONTEXT)).isEqualTo(first.last());
    assertThatThrownBy(
            () ->
                log.append(
                    CONTEXT,
                    new AppendGuard.IdempotencyKey("local", "key", "other"),
                    Decision.always(message("c"))))
        .isInstanceOf(Rejection.Conflict.class);
    var somebodyElse = new AppendGuard.IdempotencyKey("other", "key", "other");
    assertThat(log.append(CONTEXT, somebodyElse, Decision.always(message("c"))).replayed())
        .isFalse();
  }

  @Test
  void concurrent_appends_are_dense_and_all_there() throws InterruptedException {
    var threads = new ArrayList<Thread>();
    for (var t = 0; t < 20; t++) {
      var name = "t" + t;
      threads.add(
          Thread.startVirtualThread(
              () -> {
                for (var i = 0; i < 50; i++) {
                  append(message(name + "-" + i));
                }
              }));
    }
    for (var thread : threads) {
      thread.join();
    }
    assertThat(all())
        .extracting(e -> e.position().seq())
        .containsExactlyElementsOf(LongStream.rangeClosed(1, 1001).boxed().toList());
    assertThat(all()).extracting(Entry::eventId).doesNotHaveDuplicates();
  }

  @Test
  void decisions_see_what_others_have_added() throws InterruptedException {
    var wins = new AtomicInteger();
    var threads = new ArrayList<Thread>();
    for (var t = 0; t < 16; t++) {
      threads.add(
          Thread.startVirtualThread(
              () ->
                  log.append(
                      CONTEXT,
                      AppendGuard.none(),
                      state -> {
                        if (!state.openTasks().isEmpty()) {
                          return List.of();
                        }
                        wins.incrementAndGet();
                        return List.of(taskCreated());
                      })));
    }
    for (var thread : threads) {
      thread.join();
    }
    assertThat(wins).hasValue(1);
    assertThat(log.head(CONTEXT)).isEqualTo(Position.of(2));
  }

  @Test
  void waiting_ends_with_the_next_event_or_with_patience() throws InterruptedException {
    assertThat(log.await(CONTEXT, Position.START, Duration.ZERO)).isTrue();
    assertThat(log.await(CONTEXT, Position.of(1), Duration.ofMillis(5))).isFalse();
    var woken = new CountDownLatch(40);
    for (var i = 0; i < 40; i++) {
      Thread.startVirtualThread(
          () -> {
            try {
              if (log.await(CONTEXT, Position.of(1), LONG)) {
                woken.countDown();
              }
            } catch (InterruptedException ended) {
              Thread.currentThread().interrupt();
            }
          });
    }
    append(message("a"));
    assertThat(woken.await(LONG.toSeconds(), java.util.concurrent.TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void a_reader_that_comes_back_at_any_point_misses_nothing() throws InterruptedException {
    var total = 500;
    append(taskCreated(), status(TaskState.WORKING));
    var writer =
        Thread.startVirtualThread(
            () -> {
              for (var i = 0; i < total; i++) {
                append(delta(i, "w" + i));
              }
            });
    var random = new java.util.Random(1);
    var seen = new ArrayList<Long>();
    var at = Position.START;
    while (seen.size() < total + 3) {
      log.await(CONTEXT, at, LONG);
      for (var entry : log.read(CONTEXT, at, 1 + random.nextInt(9))) {
        seen.add(entry.position().seq());
        at = entry.position();
      }
    }
    writer.join();
    assertThat(seen)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, total + 3).boxed().toList());
  }

  @Test
  void the_end_of_a_block_has_the_blocks_text() {
    append(taskCreated(), status(TaskState.WORKING));
    var text = new StringBuilder();
    for (var i = 0; i < 30; i++) {
      append(delta(i, "w" + i + " "));
      text.append("w").append(i).append(" ");
    }
    var end = new ContentComplete(text.toString(), BLOCK, FinishReason.STOP, null, null, null);
    append(new EventDraft(TASK, end));
    assertThat(all().getLast().event()).isEqualTo(end);
  }

  @Test
  void a_deleted_context_is_gone_for_ever() {
    append(message("a"));
    log.delete(CONTEXT);
    assertThatThrownBy(() -> log.head(CONTEXT)).isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> append(message("b"))).isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> log.create(CONTEXT, created())).isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> log.delete(CONTEXT)).isInstanceOf(Rejection.Gone.class);
  }

  @Test
  void open_tasks_and_changes_can_be_found() {
    var other = new ContextId("context-2");
    var before = log.changes(0, 10).mark();
    log.create(other, created());
    append(taskCreated());
    assertThat(log.withOpenTasks()).containsExactly(CONTEXT);
    var changedContexts = log.changes(before, 10);
    assertThat(changedContexts.contexts()).containsExactly(other, CONTEXT);
    assertThat(log.changes(changedContexts.mark(), 10).contexts()).isEmpty();
  }

  @Test
  void contexts_that_change_at_once_are_all_found_page_by_page() throws Exception {
    var expected = new HashSet<>(Set.of(CONTEXT));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var i = 0; i < 200; i++) {
        var id = new ContextId("at-once-" + i);
        expected.add(id);
        threads.execute(() -> log.create(id, created()));
      }
    }
    var found = new HashSet<ContextId>();
    var mark = -1L;
    for (var page = log.changes(0, 7); page.mark() != mark; page = log.changes(mark, 7)) {
      found.addAll(page.contexts());
      mark = page.mark();
    }
    assertThat(found).isEqualTo(expected);
  }

  @Test
  void time_never_runs_backwards_within_a_context() {
    for (var i = 0; i < 20; i++) {
      append(message("m" + i));
    }
    assertThat(all()).extracting(Entry::timestamp).isSorted();
  }
}
