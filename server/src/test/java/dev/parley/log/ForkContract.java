package dev.parley.log;

import static dev.parley.log.EventLogContract.BLOCK;
import static dev.parley.log.EventLogContract.CONTEXT;
import static dev.parley.log.EventLogContract.LONG;
import static dev.parley.log.EventLogContract.TASK;
import static dev.parley.log.EventLogContract.checkpoint;
import static dev.parley.log.EventLogContract.created;
import static dev.parley.log.EventLogContract.delta;
import static dev.parley.log.EventLogContract.message;
import static dev.parley.log.EventLogContract.status;
import static dev.parley.log.EventLogContract.taskCreated;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The contract of all event logs for forks. The test of each log extends it.
abstract class ForkContract {

  static final ContextId FORK = new ContextId("fork");
  static final int STEPS = 90;

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

  static ContextForked forked(ContextId source, long atSeq) {
    return new ContextForked(source, atSeq, null, null);
  }

  static EventDraft data(String artifact, int value) {
    var data = Json.object().put("n", value);
    return new EventDraft(
        TASK, new DataWrite(new ArtifactId(artifact), null, null, data, null, null));
  }

  /// The same entry in another context.
  static Entry in(ContextId context, Entry entry) {
    return new Entry(
        context,
        entry.position(),
        entry.eventId(),
        entry.timestamp(),
        entry.origin(),
        entry.event());
  }

  static List<Entry> prefix(List<Entry> entries, long atSeq, ContextId context) {
    return entries.stream()
        .filter(entry -> entry.position().seq() <= atSeq)
        .map(entry -> in(context, entry))
        .toList();
  }

  List<Entry> all(ContextId context) {
    return log.read(context, Position.START, Integer.MAX_VALUE);
  }

  AppendResult append(ContextId context, EventDraft... drafts) {
    return log.append(context, AppendGuard.none(), Decision.always(drafts));
  }

  List<Event> eventsAfter(ContextId context, long seq) {
    return log.read(context, new Position(seq, Integer.MAX_VALUE), 1000).stream()
        .map(Entry::event)
        .toList();
  }

  String state(ContextId context) {
    return log.inspect(context, ForkContract::text);
  }

  /// The state folded from all entries of the context, one by one.
  String folded(ContextId context) {
    var state = new ContextState();
    for (var entry : all(context)) {
      state.apply(entry.origin(), entry.event(), entry.position());
    }
    return text(state);
  }

  private static String text(ContextState state) {
    return new String(SavedState.save(state, 0), StandardCharsets.UTF_8);
  }

  /// Writes a task that streams text, thinks and ends, then another one.
  void fill(ContextId context, int steps) {
    var random = new Random(steps);
    var text = new StringBuilder();
    append(context, taskCreated(), status(TaskState.WORKING));
    for (var i = 0; i < steps; i++) {
      switch (random.nextInt(5)) {
        case 0 -> append(context, checkpoint(i), checkpoint(i + 1));
        case 1 -> append(context, message("m" + i));
        case 2 -> append(context, data("a" + i % 4, i));
        default -> {
          text.append("word").append(i);
          append(context, delta(i, "word" + i));
        }
      }
    }
    var end = new ContentComplete(text.toString(), BLOCK, FinishReason.STOP, null, null, null);
    append(context, new EventDraft(TASK, end), status(TaskState.COMPLETED));
    append(context, new EventDraft(TASK, new TaskComplete("done", null, null)), message("last"));
  }

  @Test
  void a_fork_shares_the_past_and_goes_its_own_way() {
    append(CONTEXT, message("a"), message("b"), message("c"));
    var source = all(CONTEXT);

    assertThat(log.fork(FORK, forked(CONTEXT, 3))).isTrue();
    append(FORK, message("d"));
    append(CONTEXT, message("e"));

    assertThat(all(FORK).subList(0, 3)).isEqualTo(prefix(source, 3, FORK));
    assertThat(eventsAfter(FORK, 3)).containsExactly(forked(CONTEXT, 3), message("d").event());
    assertThat(all(FORK)).extracting(e -> e.position().seq()).containsExactly(1L, 2L, 3L, 4L, 5L);
    assertThat(all(FORK)).extracting(Entry::contextId).containsOnly(FORK);
    assertThat(all(CONTEXT)).hasSize(5).startsWith(source.toArray(Entry[]::new));
    assertThat(all(FORK).getLast().eventId()).isNotEqualTo(all(CONTEXT).getLast().eventId());
    assertThat(log.head(FORK)).isEqualTo(Position.of(5));
  }

  @Test
  void a_fork_has_an_owner_of_its_own_or_that_of_its_source() {
    log.fork(FORK, new ContextForked(CONTEXT, 1, "ada", null));
    log.fork(new ContextId("fork-2"), forked(CONTEXT, 1));

    assertThat(log.owner(FORK)).isEqualTo("ada");
    assertThat(log.owner(new ContextId("fork-2"))).isEqualTo("local");
    assertThat(log.owner(CONTEXT)).isEqualTo("local");
  }

  @Test
  void a_fork_at_any_seq_is_a_copy_of_the_past_up_to_there() {
    fill(CONTEXT, STEPS);
    var source = all(CONTEXT);
    for (var seq = 1L; seq <= log.head(CONTEXT).seq(); seq++) {
      var fork = new ContextId("fork-" + seq);
      log.fork(fork, forked(CONTEXT, seq));
      var expected = prefix(source, seq, fork);

      assertThat(all(fork).subList(0, expected.size())).as("at %s", seq).isEqualTo(expected);
      assertThat(eventsAfter(fork, seq).getFirst()).isEqualTo(forked(CONTEXT, seq));
      int open = log.inspect(fork, state -> state.openTasks().size());
      assertThat(open).isZero();
      assertThat(state(fork)).as("at %s", seq).isEqualTo(folded(fork));
    }
    assertThat(all(CONTEXT)).isEqualTo(source);
    assertThat(log.withOpenTasks()).isEmpty();
  }

  @Test
  void any_page_of_a_fork_can_be_read_across_the_border() {
    fill(CONTEXT, STEPS);
    log.fork(FORK, forked(CONTEXT, 40));
    for (var i = 0; i < 30; i++) {
      append(FORK, message("own" + i));
    }
    var entries = all(FORK);
    for (var i = 0; i < entries.size(); i += 3) {
      for (var limit : new int[] {1, 2, 7, 31, 1000}) {
        assertThat(log.read(FORK, entries.get(i).position(), limit))
            .isEqualTo(entries.subList(i + 1, Math.min(entries.size(), i + 1 + limit)));
      }
    }
  }

  @Test
  void tasks_that_were_open_at_the_cut_end_in_the_fork_only() {
    var call = new ToolCallId("call");
    var start = new ToolStart(call, "shell", Json.object(), null, null, null, null, null);
    append(CONTEXT, taskCreated(), status(TaskState.WORKING), delta(0, "Hel"), delta(1, "lo"));
    var cut = append(CONTEXT, new EventDraft(TASK, start), checkpoint(1)).last().seq();
    append(CONTEXT, delta(2, " world"));

    log.fork(FORK, forked(CONTEXT, cut));

    assertThat(eventsAfter(FORK, cut))
        .containsExactly(
            forked(CONTEXT, cut),
            new ToolComplete(call, "shell", false, null, "canceled", null, Outcome.CANCELED, null),
            new ContentComplete("Hello", BLOCK, FinishReason.CANCELED, true, null, null),
            new TaskStatus(TaskState.CANCELED, null, Json.object().put("reason", "forked")));
    assertThat(log.withOpenTasks()).containsExactly(CONTEXT);
    append(CONTEXT, status(TaskState.FAILED));
    assertThatThrownBy(() -> append(FORK, delta(2, "late"))).isInstanceOf(Rejection.Conflict.class);
  }

  @Test
  void a_task_that_had_succeeded_but_not_ended_at_the_cut_ends_well() {
    append(CONTEXT, taskCreated(), status(TaskState.WORKING), status(TaskState.COMPLETED));
    append(CONTEXT, new EventDraft(TASK, new TaskComplete("done", null, null)));

    log.fork(FORK, forked(CONTEXT, 4));

    assertThat(eventsAfter(FORK, 4))
        .containsExactly(
            forked(CONTEXT, 4),
            new TaskComplete(null, null, Json.object().put("reason", "forked")));
  }

  @Test
  void internal_events_after_the_cut_belong_to_it_and_later_ones_do_not() {
    append(CONTEXT, taskCreated(), status(TaskState.WORKING), checkpoint(1), checkpoint(2));
    log.fork(FORK, forked(CONTEXT, 3));
    append(CONTEXT, checkpoint(3));

    assertThat(all(FORK))
        .extracting(e -> e.position().toString())
        .containsExactly("1", "2", "3", "3.1", "3.2", "4", "5");
    assertThat(log.read(FORK, new Position(3, 1), 2))
        .extracting(e -> e.position().toString())
        .containsExactly("3.2", "4");
  }

  @Test
  void forks_of_forks_share_all_of_it() {
    fill(CONTEXT, 20);
    var expected = prefix(all(CONTEXT), 15, FORK);
    var source = CONTEXT;
    var cut = 15L;
    for (var depth = 1; depth <= 6; depth++) {
      var fork = new ContextId("depth-" + depth);
      log.fork(fork, forked(source, cut));
      var shared = prefix(all(source), cut, fork);
      assertThat(all(fork).subList(0, shared.size())).isEqualTo(shared);
      for (var i = 0; i < 9; i++) {
        append(fork, message("of-" + depth + "-" + i));
      }
      source = fork;
      cut = log.head(fork).seq() - 3;
    }
    assertThat(prefix(all(source), 15, FORK)).isEqualTo(expected);
    // A fork at a position that its source shares has only the entries of the first context.
    log.fork(FORK, forked(source, 15));
    assertThat(prefix(all(FORK), 15, FORK)).isEqualTo(expected);
  }

  @Test
  void a_fork_outlives_its_source_and_a_source_its_fork() {
    fill(CONTEXT, 30);
    var second = new ContextId("second");
    log.fork(FORK, forked(CONTEXT, 20));
    log.fork(second, forked(FORK, 22));
    append(second, message("mine"));
    var source = all(CONTEXT);
    var kept = all(second);

    log.delete(FORK);

    assertThat(all(CONTEXT)).isEqualTo(source);
    assertThat(all(second)).isEqualTo(kept);

    log.delete(CONTEXT);

    assertThat(all(second)).isEqualTo(kept);
    assertThatThrownBy(() -> all(CONTEXT)).isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> log.fork(new ContextId("third"), forked(CONTEXT, 1)))
        .isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> log.fork(FORK, forked(second, 1))).isInstanceOf(Rejection.Gone.class);
    log.fork(new ContextId("third"), forked(second, 12));
    assertThat(prefix(all(new ContextId("third")), 12, second)).isEqualTo(prefix(kept, 12, second));
  }

  @Test
  void what_cannot_be_forked_is_refused() {
    assertThatThrownBy(() -> log.fork(FORK, forked(CONTEXT, 0)))
        .isInstanceOf(Rejection.Invalid.class);
    assertThatThrownBy(() -> log.fork(FORK, forked(CONTEXT, 2)))
        .isInstanceOf(Rejection.Invalid.class);
    assertThatThrownBy(() -> log.fork(FORK, forked(new ContextId("unknown"), 1)))
        .isInstanceOf(Rejection.NotFound.class);
    assertThatThrownBy(() -> log.head(FORK)).isInstanceOf(Rejection.NotFound.class);
    assertThat(log.fork(CONTEXT, forked(CONTEXT, 1))).isFalse();
    assertThat(log.fork(FORK, forked(CONTEXT, 1))).isTrue();
    assertThat(log.fork(FORK, forked(CONTEXT, 1))).isFalse();
    assertThat(log.head(FORK)).isEqualTo(Position.of(2));
  }

  @Test
  void idempotency_keys_stay_with_the_source() {
    var idempotencyKey = new AppendGuard.IdempotencyKey("local", "key", "hash");
    log.append(CONTEXT, idempotencyKey, Decision.always(message("a")));
    log.fork(FORK, forked(CONTEXT, 2));

    assertThat(log.append(FORK, idempotencyKey, Decision.always(message("b"))).replayed())
        .isFalse();
    assertThat(log.append(FORK, idempotencyKey, Decision.always(message("b"))).last())
        .isEqualTo(Position.of(4));
  }

  @Test
  void who_waits_at_the_end_of_a_fork_hears_of_the_fork_alone() throws InterruptedException {
    log.fork(FORK, forked(CONTEXT, 1));
    assertThat(log.await(FORK, Position.of(1), LONG)).isTrue();
    var woken = new CountDownLatch(1);
    Thread.startVirtualThread(
        () -> {
          try {
            if (log.await(FORK, Position.of(2), LONG)) {
              woken.countDown();
            }
          } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
          }
        });
    append(CONTEXT, message("a"));
    assertThat(log.await(FORK, Position.of(2), Duration.ofMillis(5))).isFalse();
    append(FORK, message("b"));
    assertThat(woken.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void a_fork_is_a_change() {
    var before = log.changes(0, 10).mark();
    log.fork(FORK, forked(CONTEXT, 1));
    assertThat(log.changes(before, 10).contexts()).containsExactly(FORK);
  }
}
