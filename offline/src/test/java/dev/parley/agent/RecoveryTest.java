package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.LimitedAppendLog;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.RecordingTime;
import dev.parley.runtime.Time;
import dev.parley.task.TaskTestBed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class RecoveryTest {

  private static final Time WITHOUT_PAUSES = new RecordingTime(TaskTestBed.SOURCES.time());

  @TempDir Path folder;

  @BeforeEach
  void files() throws IOException {
    Files.writeString(folder.resolve("a.csv"), "name,amount\nx,1\ny,2\n");
    Files.writeString(folder.resolve("b.csv"), "city,size\nz,3\n");
  }

  @Test
  void whichever_append_is_the_last_every_task_ends_once_and_nothing_stays_open() throws Exception {
    for (var appends = 1; ; appends++) {
      var log = TaskTestBed.newLog();
      var freezing = new LimitedAppendLog(log, appends, () -> new Rejection.Gone("frozen"));
      boolean whole;
      try (var before = TestAssistant.world(freezing, folder)) {
        var task = before.submit("summarise the CSV files here").taskId();
        whole = awaitEndOrFreeze(before, freezing, task);
      }
      try (var after = TestAssistant.world(log, folder)) {
        after.tasks().recover();
        var next = after.submit("say hello").taskId();

        assertThat(after.awaitEnd(next)).isEqualTo(TaskState.COMPLETED);
        assertSound(log);
      }
      if (whole) {
        assertThat(appends).isGreaterThan(20);
        return;
      }
    }
  }

  @Test
  void a_model_that_was_cut_off_is_asked_again_and_its_new_text_replaces_the_old()
      throws Exception {
    var log = TaskTestBed.newLog();
    var freezing = new LimitedAppendLog(log, Integer.MAX_VALUE, () -> new Rejection.Gone("frozen"));
    try (var before = TestAssistant.world(freezing, folder)) {
      var task = before.submit("count slowly to 80").taskId();
      before.await(e -> e.event() instanceof ContentDelta delta && delta.index() == 2);
      freezing.allow(0);
      before.tasks().drain(Duration.ZERO);
      try (var after = TestAssistant.world(log, folder, WITHOUT_PAUSES)) {
        after.tasks().recover();

        assertThat(after.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
        var blocks = after.events(task, ContentComplete.class);
        assertThat(blocks).hasSize(2);
        assertThat(blocks.getFirst().finishReason()).isEqualTo(FinishReason.INTERRUPTED);
        assertThat(blocks.getFirst().partial()).isTrue();
        assertThat(blocks.getFirst().content()).startsWith("1 2 3");
        assertThat(blocks.getLast().replaces()).isEqualTo(blocks.getFirst().blockId());
        assertThat(after.answer(task).content()).isEqualTo(blocks.getLast().content());
        assertThat(after.answer(task).content()).endsWith(" 79 80");
        assertSound(log);
      }
    }
  }

  @Test
  void a_model_that_is_cut_off_three_times_ends_its_task_as_interrupted() throws Exception {
    var log = TaskTestBed.newLog();
    TaskId task = null;
    for (var restart = 0; restart < 3; restart++) {
      var freezing =
          new LimitedAppendLog(log, Integer.MAX_VALUE, () -> new Rejection.Gone("frozen"));
      var seen = log.head(TaskTestBed.CONTEXT);
      try (var taskTestBed = TestAssistant.world(freezing, folder)) {
        taskTestBed.tasks().recover();
        if (task == null) {
          task = taskTestBed.submit("count slowly to 1000").taskId();
        }
        taskTestBed.await(e -> e.position().after(seen) && e.event() instanceof ContentDelta);
        freezing.allow(0);
        taskTestBed.tasks().drain(Duration.ZERO);
      }
    }
    try (var after = TestAssistant.world(log, folder)) {
      after.tasks().recover();

      assertThat(after.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(after.reason(task)).isEqualTo("interrupted");
      var error = after.events(task, ErrorReported.class).getFirst();
      assertThat(error.code()).isEqualTo(ErrorCode.INTERRUPTED);
      assertThat(error.retryable()).isTrue();
      assertThat(after.answer(task).metadata().path("partial").asBoolean()).isTrue();
    }
  }

  @Test
  void a_task_that_was_to_be_canceled_ends_canceled() throws Exception {
    var log = TaskTestBed.newLog();
    var freezing = new LimitedAppendLog(log, Integer.MAX_VALUE, () -> new Rejection.Gone("frozen"));
    try (var before = TestAssistant.world(freezing, folder)) {
      var task = before.submit("count slowly to 1000").taskId();
      before.awaitKind(task, Kind.CONTENT_DELTA);
      log.append(
          TaskTestBed.CONTEXT,
          AppendGuard.none(),
          state -> {
            freezing.allow(0);
            return List.of(
                new EventDraft(
                    state.openTask(task).orElseThrow().origin(),
                    new CancelRequested("local", "enough")));
          });
      before.tasks().drain(Duration.ZERO);
      try (var after = TestAssistant.world(log, folder)) {
        after.tasks().recover();

        assertThat(after.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
        assertThat(after.reason(task)).isEqualTo("enough");
      }
    }
  }

  @Test
  void draining_hands_back_what_is_not_done_and_the_next_start_goes_on_with_it() throws Exception {
    var log = TaskTestBed.newLog();
    try (var before = TestAssistant.world(log, folder)) {
      var running = before.submit("count slowly to 80").taskId();
      var queued = before.submit("say later").taskId();
      before.awaitKind(running, Kind.CONTENT_DELTA);

      before.tasks().drain(Duration.ZERO);

      assertThat(before.tasks().running()).isZero();
      assertThatThrownBy(() -> before.submit("more")).isInstanceOf(Rejection.Unavailable.class);
      assertThat(before.kinds(queued)).containsExactly(Kind.TASK_CREATED, Kind.TASK_STATUS);
      try (var after = TestAssistant.world(log, folder, WITHOUT_PAUSES)) {
        after.tasks().recover();

        assertThat(after.awaitEnd(running)).isEqualTo(TaskState.COMPLETED);
        assertThat(after.awaitEnd(queued)).isEqualTo(TaskState.COMPLETED);
        assertThat(after.answer(queued).content()).isEqualTo("later");
      }
    }
  }

  @Test
  void a_task_whose_store_was_down_for_a_while_continues() throws Exception {
    var log = TaskTestBed.newLog();
    var freezing =
        new LimitedAppendLog(log, Integer.MAX_VALUE, () -> new Rejection.Unavailable("disk full"));
    try (var taskTestBed = TestAssistant.world(freezing, folder)) {
      var task = taskTestBed.submit("count slowly to 1000").taskId();
      taskTestBed.awaitKind(task, Kind.CONTENT_DELTA);
      freezing.allow(0);
      freezing.awaitRejection();
      freezing.allow(Integer.MAX_VALUE);

      var cut =
          taskTestBed.await(
              e -> e.event() instanceof ContentComplete c && Boolean.TRUE.equals(c.partial()));
      taskTestBed.await(
          e -> e.position().after(cut.position()) && e.event() instanceof ContentDelta);
      taskTestBed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);
      assertThat(taskTestBed.awaitEnd(task)).isEqualTo(TaskState.CANCELED);
      assertSound(log);
    }
  }

  /// True if the task ended before the log froze.
  private static boolean awaitEndOrFreeze(
      TaskTestBed taskTestBed, LimitedAppendLog log, TaskId task) throws InterruptedException {
    while (!log.exhausted()) {
      if (taskTestBed.events(task).stream().anyMatch(TaskComplete.class::isInstance)) {
        return true;
      }
      taskTestBed
          .log()
          .await(
              TaskTestBed.CONTEXT,
              taskTestBed.log().head(TaskTestBed.CONTEXT),
              Duration.ofMillis(20));
    }
    return false;
  }

  /// The numbers have no gaps, every task has one end and nothing after it, and nothing is left
  /// open.
  private static void assertSound(MemoryLog log) {
    var entries = log.read(TaskTestBed.CONTEXT, Position.START, Integer.MAX_VALUE);
    assertThat(
            entries.stream()
                .filter(e -> !e.event().internal())
                .map(e -> e.position().seq())
                .toList())
        .isEqualTo(LongStream.rangeClosed(1, log.head(TaskTestBed.CONTEXT).seq()).boxed().toList());
    for (var created : entries.stream().filter(e -> e.event() instanceof TaskCreated).toList()) {
      var task = created.taskId();
      var events = entries.stream().filter(e -> task.equals(e.taskId())).map(Entry::event).toList();
      assertThat(events.stream().filter(RecoveryTest::terminal)).hasSize(1);
      assertThat(events.getLast()).matches(RecoveryTest::terminal);
      assertThat(ids(events, ToolStart.class, ToolStart::toolCallId))
          .containsExactlyInAnyOrderElementsOf(
              ids(events, ToolComplete.class, ToolComplete::toolCallId))
          .doesNotHaveDuplicates();
      assertBlocksWhole(events);
    }
    assertThat(log.withOpenTasks()).isEmpty();
  }

  private static <E extends Event> List<ToolCallId> ids(
      List<Event> events, Class<E> type, Function<E, ToolCallId> id) {
    return events.stream().filter(type::isInstance).map(type::cast).map(id).toList();
  }

  private static void assertBlocksWhole(List<Event> events) {
    var open = new HashMap<BlockId, String>();
    for (var event : events) {
      if (event instanceof ContentDelta delta) {
        open.merge(delta.blockId(), delta.delta(), String::concat);
      } else if (event instanceof ContentComplete complete) {
        var said = open.remove(complete.blockId());
        assertThat(complete.content()).isEqualTo(said == null ? "" : said);
      }
    }
    assertThat(open).isEmpty();
  }

  private static boolean terminal(Event event) {
    return event instanceof TaskComplete
        || (event instanceof TaskStatus status
            && status.status().terminal()
            && status.status() != TaskState.COMPLETED);
  }
}
