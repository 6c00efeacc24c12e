package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.C;
import static dev.parley.projection.ViewsFixture.T;
import static dev.parley.projection.ViewsFixture.created;
import static dev.parley.projection.ViewsFixture.message;
import static dev.parley.projection.ViewsFixture.status;
import static dev.parley.projection.ViewsFixture.subtask;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextSnapshot.UsageView;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskDeleted;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskEvent.TaskStored;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskView;
import dev.parley.protocol.TaskView.TaskError;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Contexts, messages, tasks and usage in the views.
class ViewsTest {

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

  private TaskView task() {
    return viewsFixture.views.task(C, T.taskId()).orElseThrow();
  }

  @Test
  void a_new_context_has_an_owner_and_nothing_else() {
    assertThat(viewsFixture.views.context(C))
        .isEqualTo(
            new ContextView(
                C,
                null,
                "ada",
                Instant.ofEpochSecond(1),
                Instant.ofEpochSecond(1),
                Position.of(1),
                0,
                0,
                null,
                null,
                null));
  }

  @Test
  void an_untitled_context_takes_the_first_50_characters_of_its_first_message() { // CHAT-7
    viewsFixture.addMessage("m1", "x".repeat(60));
    viewsFixture.addMessage("m2", "later");

    assertThat(viewsFixture.views.context(C).title()).isEqualTo("x".repeat(50));
  }

  @Test
  void a_title_is_never_cut_inside_a_character() { // CHAT-8
    viewsFixture.addMessage("m1", "x".repeat(49) + "😀 and more");

    assertThat(viewsFixture.views.context(C).title()).isEqualTo("x".repeat(49));
  }

  @Test
  void a_title_is_not_taken_from_an_agent() {
    viewsFixture.add(new Message(new MessageId("m1"), Role.ASSISTANT, "hello", null, null));

    assertThat(viewsFixture.views.context(C).title()).isNull();
  }

  @Test
  void a_context_can_be_renamed_and_keeps_that_name() {
    viewsFixture.addMessage("m1", "first");
    viewsFixture.add(new ContextUpdated("Name", Json.object().put("a", 1)));
    viewsFixture.add(new ContextUpdated(null, Json.object().put("b", 2)));
    viewsFixture.addMessage("m2", "second");

    var context = viewsFixture.views.context(C);
    assertThat(context.title()).isEqualTo("Name");
    assertThat(context.metadata()).isEqualTo(Json.object().put("b", 2));
  }

  @Test
  void messages_come_back_as_they_were_said() {
    var metadata = Json.object().put("taskId", T.taskId().value()).put("free", true);
    List<tools.jackson.databind.JsonNode> parts = List.of(Json.object().put("text", "\u0000é😀"));
    viewsFixture.add(
        new Message(new MessageId("m1"), Role.USER, "nul \u0000 é😀", parts, metadata));
    viewsFixture.beginTask(T);
    viewsFixture.add(T, new Message(new MessageId("m2"), Role.ASSISTANT, "hi", null, null));

    var messages = viewsFixture.views.messages(C, 0, 10).items();

    assertThat(messages)
        .containsExactly(
            new MessageView(
                new MessageId("m1"),
                2,
                Role.USER,
                "nul \u0000 é😀",
                parts,
                T.taskId(),
                null,
                Instant.ofEpochSecond(2),
                null,
                metadata),
            new MessageView(
                new MessageId("m2"),
                5,
                Role.ASSISTANT,
                "hi",
                null,
                T.taskId(),
                T.agentId(),
                Instant.ofEpochSecond(5),
                null,
                null));
    assertThat(viewsFixture.views.latestMessages(C, 10)).isEqualTo(messages);
    assertThat(viewsFixture.views.latestMessages(C, 1)).isEqualTo(messages.subList(1, 2));
    assertThat(viewsFixture.views.context(C).messageCount()).isEqualTo(2);
  }

  @Test
  void a_clients_own_tasks_are_in_the_log_and_no_work_of_ours() {
    var own = Origin.root(new TaskId("own"), ViewsFixture.AGENT);
    viewsFixture.add(
        own, new TaskStored(Json.object().put("taskId", "own").put("status", "working")));
    var last = viewsFixture.add(own, new TaskDeleted("done with it"));

    // They must not look like running tasks.
    assertThat(viewsFixture.views.storedTasks().find(C, own.taskId())).isEmpty();
    assertThat(viewsFixture.views.storedTasks().history(C, own.taskId()))
        .isEqualTo(new StoredTaskQueries.StoredTaskHistory(true, true));
    assertThat(viewsFixture.views.tasks(C, null, 10).items()).isEmpty();
    assertThat(viewsFixture.views.context(C).openTasks()).isZero();
    assertThat(viewsFixture.views.context(C).position().seq()).isEqualTo(last);
    assertThat(viewsFixture.log.withOpenTasks()).isEmpty();
  }

  @Test
  void a_task_id_that_is_none_is_only_metadata() {
    var metadata = Json.object().put("taskId", "../etc");
    viewsFixture.add(new Message(new MessageId("m1"), Role.USER, "hi", null, metadata));

    assertThat(viewsFixture.views.message(C, new MessageId("m1")).orElseThrow().taskId()).isNull();
  }

  @Test
  void an_edited_message_reads_as_edited_in_its_old_place() {
    var before = Json.object().put("a", 1).put("b", 2);
    viewsFixture.add(new Message(new MessageId("m1"), Role.USER, "old", null, before));
    viewsFixture.addMessage("m2", "next");
    var change = Json.object().put("b", 3);
    change.putNull("a");
    viewsFixture.add(new MessageUpdated(new MessageId("m1"), "new", change));

    var message = viewsFixture.views.messages(C, 0, 10).items().getFirst();

    assertThat(message.content()).isEqualTo("new");
    assertThat(message.metadata()).isEqualTo(Json.object().put("b", 3));
    assertThat(message.createdAt()).isEqualTo(Instant.ofEpochSecond(2));
    assertThat(message.editedAt()).isEqualTo(Instant.ofEpochSecond(4));
    assertThat(message.seq()).isEqualTo(2);
  }

  @Test
  void a_deleted_message_is_hidden_and_others_keep_their_order() { // CHAT-24
    viewsFixture.addMessage("m1", "one");
    viewsFixture.addMessage("m2", "two");
    viewsFixture.addMessage("m3", "three");
    viewsFixture.add(new MessageDeleted(new MessageId("m2")));
    viewsFixture.add(new MessageUpdated(new MessageId("m2"), "back?", null));

    assertThat(viewsFixture.views.messages(C, 0, 10).items())
        .extracting(MessageView::content)
        .containsExactly("one", "three");
    assertThat(viewsFixture.views.message(C, new MessageId("m2"))).isEmpty();
    assertThat(viewsFixture.views.context(C).messageCount()).isEqualTo(2);
  }

  @Test
  void a_task_is_submitted_until_it_works() {
    viewsFixture.add(T, created());

    assertThat(task().status()).isEqualTo(TaskState.SUBMITTED);
    assertThat(viewsFixture.views.context(C).openTasks()).isEqualTo(1);
  }

  @Test
  void a_context_tells_how_its_last_root_task_stands() {
    viewsFixture.beginTask(T);
    viewsFixture.complete(T, "done");
    var place = viewsFixture.addMessage("m1", "and now?");
    var later = Origin.root(new TaskId("later"), ViewsFixture.AGENT);
    viewsFixture.beginTask(later);
    viewsFixture.add(later, status(TaskState.FAILED));
    assertThat(viewsFixture.views.context(C).lastStatus()).isEqualTo(TaskState.FAILED);
    assertThat(viewsFixture.views.contexts(VisibleContexts.ALL, null, 10).items())
        .extracting(ContextView::lastStatus)
        .containsExactly(TaskState.FAILED);

    viewsFixture.rewind(place);

    assertThat(viewsFixture.views.context(C).lastStatus()).isEqualTo(TaskState.COMPLETED);
  }

  @Test
  void a_task_that_completes_has_content_and_metadata_of_all_its_steps() {
    viewsFixture.beginTask(T);
    viewsFixture.add(
        T, new TaskStatus(TaskState.WORKING, "routing", Json.object().put("routing", "single")));
    viewsFixture.add(T, status(TaskState.COMPLETED));
    viewsFixture.add(
        T,
        new TaskComplete("done", List.of(new ArtifactId("x")), Json.object().put("durationMs", 5)));

    assertThat(task().status()).isEqualTo(TaskState.COMPLETED);
    assertThat(task().content()).isEqualTo("done");
    assertThat(task().artifacts()).containsExactly(new ArtifactId("x"));
    assertThat(task().metadata())
        .isEqualTo(Json.object().put("routing", "single").put("durationMs", 5));
    assertThat(task().endedAt()).isEqualTo(Instant.ofEpochSecond(5));
    assertThat(viewsFixture.views.context(C).openTasks()).isZero();
  }

  @Test
  void a_task_that_fails_says_why() {
    viewsFixture.beginTask(T);
    viewsFixture.add(
        T, new ErrorReported(ErrorCode.TOOL_FAILED, "tool", true, ErrorScope.TOOL, null));
    viewsFixture.add(T, new ErrorReported(ErrorCode.TIMEOUT, "late", true, ErrorScope.TASK, null));
    viewsFixture.add(T, new TaskStatus(TaskState.FAILED, "too late", null));

    assertThat(task().error()).isEqualTo(new TaskError("timeout", "late", true));
    assertThat(task().message()).isEqualTo("too late");
    assertThat(task().endedAt()).isNotNull();
  }

  @Test
  void a_task_that_completes_after_all_has_no_error() {
    viewsFixture.beginTask(T);
    viewsFixture.add(
        T, new ErrorReported(ErrorCode.MODEL_ERROR, "again", true, ErrorScope.TASK, null));
    viewsFixture.complete(T, "done");

    assertThat(task().error()).isNull();
  }

  @Test
  void a_request_to_cancel_shows_before_the_task_ends() {
    viewsFixture.beginTask(T);
    assertThat(task().cancelRequested()).isNull();

    viewsFixture.add(T, new CancelRequested("ada", null));

    assertThat(task().cancelRequested()).isTrue();
    assertThat(task().endedAt()).isNull();
  }

  @Test
  void subtasks_know_their_parent_and_root() {
    viewsFixture.beginTask(T);
    viewsFixture.beginTask(subtask("t2", T));
    viewsFixture.beginTask(subtask("t3", subtask("t2", T)));

    var deepest = viewsFixture.views.task(C, new TaskId("t3")).orElseThrow();

    assertThat(deepest.parentTaskId()).isEqualTo(new TaskId("t2"));
    assertThat(deepest.rootTaskId()).isEqualTo(T.taskId());
    assertThat(viewsFixture.views.tasks(C, null, 10).items())
        .extracting(TaskView::taskId)
        .containsExactly(T.taskId(), new TaskId("t2"), new TaskId("t3"));
  }

  @Test
  void a_task_is_found_without_its_context() {
    viewsFixture.beginTask(T);

    assertThat(viewsFixture.views.contextOf(T.taskId())).contains(C);
    assertThat(viewsFixture.views.contextOf(new TaskId("unknown"))).isEmpty();
  }

  @Test
  void tasks_of_a_shared_prefix_belong_to_the_source_of_a_fork() {
    var fork = new ContextId("a-fork");
    var cut = viewsFixture.beginTask(T);
    viewsFixture.log.fork(fork, new ContextForked(C, cut, null, null));

    assertThat(viewsFixture.views.contextOf(T.taskId())).contains(C);
    assertThat(viewsFixture.views.task(fork, T.taskId())).isPresent();
  }

  @Test
  void usage_is_summed_exactly_per_model() {
    for (var i = 0; i < 10; i++) {
      viewsFixture.add(new Usage("m", 10, 1, 2L, null, new BigDecimal("0.1")));
    }
    viewsFixture.add(new Usage("m", 5, 5, null, 7L, new BigDecimal("0.25")));
    viewsFixture.add(new Usage("free", 1, 1, null, null, null));

    assertThat(viewsFixture.views.usage(C))
        .containsExactly(
            new UsageView("free", 1, 1, 1, 0, 0, null),
            new UsageView("m", 11, 105, 15, 20, 7, new BigDecimal("1.25")));
  }

  @Test
  void a_cost_that_is_told_after_its_call_is_no_other_call() {
    viewsFixture.add(new Usage("m", 10, 1, null, null, null));
    viewsFixture.add(new Usage("m", 0, 0, 0L, 0L, new BigDecimal("0.5")));

    assertThat(viewsFixture.views.usage(C))
        .containsExactly(new UsageView("m", 1, 10, 1, 0, 0, new BigDecimal("0.5")));
  }

  @Test
  void an_answer_takes_in_what_was_appended_just_before() {
    for (var i = 1; i <= 600; i++) {
      viewsFixture.addMessage("m" + i, "text");
      if (i % 100 == 0) {
        assertThat(viewsFixture.views.context(C).messageCount()).isEqualTo(i);
      }
    }
  }

  @Test
  void an_unknown_context_is_not_found_and_a_deleted_one_is_gone() {
    viewsFixture.addMessage("m", "text");
    viewsFixture.views.context(C);
    viewsFixture.log.delete(C);

    assertThatThrownBy(() -> viewsFixture.views.context(C)).isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> viewsFixture.views.messages(C, 0, 1))
        .isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> viewsFixture.views.context(new ContextId("other")))
        .isInstanceOf(Rejection.NotFound.class);
    assertThat(viewsFixture.views.contexts(VisibleContexts.ALL, null, 10).items()).isEmpty();
  }

  @Test
  void the_same_message_id_may_come_again_after_a_rewind() {
    viewsFixture.addMessage("m1", "old");
    viewsFixture.rewind(1);
    viewsFixture.add(message("m1", "new"));

    assertThat(viewsFixture.views.message(C, new MessageId("m1")).orElseThrow().content())
        .isEqualTo("new");
  }

  @Test
  void closed_views_say_so() {
    viewsFixture.views.close();

    assertThatThrownBy(() -> viewsFixture.views.context(C))
        .isInstanceOf(Rejection.Unavailable.class);
  }
}
