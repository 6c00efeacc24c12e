package dev.parley.view;

import static dev.parley.view.Scene.C;
import static dev.parley.view.Scene.T;
import static dev.parley.view.Scene.created;
import static dev.parley.view.Scene.message;
import static dev.parley.view.Scene.status;
import static dev.parley.view.Scene.subtask;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
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
import dev.parley.view.TaskView.TaskError;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Contexts, messages, tasks and usage in the views.
class ViewsTest {

  @TempDir Path folder;
  private Scene scene;

  @BeforeEach
  void open() {
    scene = new Scene(folder);
  }

  @AfterEach
  void close() {
    scene.close();
  }

  private TaskView task() {
    return scene.views.task(C, T.taskId()).orElseThrow();
  }

  @Test
  void a_new_context_has_an_owner_and_nothing_else() {
    assertThat(scene.views.context(C))
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
  void an_untitled_context_takes_the_first_50_characters_of_its_first_message() { // S1.7
    scene.say("m1", "x".repeat(60));
    scene.say("m2", "later");

    assertThat(scene.views.context(C).title()).isEqualTo("x".repeat(50));
  }

  @Test
  void a_title_is_never_cut_inside_a_character() { // S1.8
    scene.say("m1", "x".repeat(49) + "😀 and more");

    assertThat(scene.views.context(C).title()).isEqualTo("x".repeat(49));
  }

  @Test
  void a_title_is_not_taken_from_an_agent() {
    scene.add(new Message(new MessageId("m1"), Role.ASSISTANT, "hello", null, null));

    assertThat(scene.views.context(C).title()).isNull();
  }

  @Test
  void a_context_can_be_renamed_and_keeps_that_name() {
    scene.say("m1", "first");
    scene.add(new ContextUpdated("Name", Json.object().put("a", 1)));
    scene.add(new ContextUpdated(null, Json.object().put("b", 2)));
    scene.say("m2", "second");

    var context = scene.views.context(C);
    assertThat(context.title()).isEqualTo("Name");
    assertThat(context.metadata()).isEqualTo(Json.object().put("b", 2));
  }

  @Test
  void messages_come_back_as_they_were_said() {
    var metadata = Json.object().put("taskId", "t").put("free", true);
    List<tools.jackson.databind.JsonNode> parts = List.of(Json.object().put("text", "\u0000é😀"));
    scene.add(new Message(new MessageId("m1"), Role.USER, "nul \u0000 é😀", parts, metadata));
    scene.begin(T);
    scene.add(T, new Message(new MessageId("m2"), Role.ASSISTANT, "hi", null, null));

    var messages = scene.views.messages(C, 0, 10).items();

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
    assertThat(scene.views.latestMessages(C, 10)).isEqualTo(messages);
    assertThat(scene.views.latestMessages(C, 1)).isEqualTo(messages.subList(1, 2));
    assertThat(scene.views.context(C).messageCount()).isEqualTo(2);
  }

  @Test
  void a_clients_own_tasks_are_in_the_log_and_no_work_of_ours() {
    var own = Origin.root(new TaskId("own"), Scene.AGENT);
    scene.add(own, new TaskStored(Json.object().put("taskId", "own").put("status", "working")));
    var last = scene.add(own, new TaskDeleted("done with it"));

    // They must not look like running tasks.
    assertThat(scene.views.keep().find(C, own.taskId())).isEmpty();
    assertThat(scene.views.keep().fate(C, own.taskId())).isEqualTo(new Keep.Fate(true, true));
    assertThat(scene.views.tasks(C, null, 10).items()).isEmpty();
    assertThat(scene.views.context(C).openTasks()).isZero();
    assertThat(scene.views.context(C).position().seq()).isEqualTo(last);
    assertThat(scene.log.withOpenTasks()).isEmpty();
  }

  @Test
  void a_task_id_that_is_none_is_only_metadata() {
    var metadata = Json.object().put("taskId", "../etc");
    scene.add(new Message(new MessageId("m1"), Role.USER, "hi", null, metadata));

    assertThat(scene.views.message(C, new MessageId("m1")).orElseThrow().taskId()).isNull();
  }

  @Test
  void an_edited_message_reads_as_edited_in_its_old_place() {
    var before = Json.object().put("a", 1).put("b", 2);
    scene.add(new Message(new MessageId("m1"), Role.USER, "old", null, before));
    scene.say("m2", "next");
    var change = Json.object().put("b", 3);
    change.putNull("a");
    scene.add(new MessageUpdated(new MessageId("m1"), "new", change));

    var message = scene.views.messages(C, 0, 10).items().getFirst();

    assertThat(message.content()).isEqualTo("new");
    assertThat(message.metadata()).isEqualTo(Json.object().put("b", 3));
    assertThat(message.createdAt()).isEqualTo(Instant.ofEpochSecond(2));
    assertThat(message.editedAt()).isEqualTo(Instant.ofEpochSecond(4));
    assertThat(message.seq()).isEqualTo(2);
  }

  @Test
  void a_deleted_message_is_hidden_and_others_keep_their_order() { // S1.24
    scene.say("m1", "one");
    scene.say("m2", "two");
    scene.say("m3", "three");
    scene.add(new MessageDeleted(new MessageId("m2")));
    scene.add(new MessageUpdated(new MessageId("m2"), "back?", null));

    assertThat(scene.views.messages(C, 0, 10).items())
        .extracting(MessageView::content)
        .containsExactly("one", "three");
    assertThat(scene.views.message(C, new MessageId("m2"))).isEmpty();
    assertThat(scene.views.context(C).messageCount()).isEqualTo(2);
  }

  @Test
  void a_task_is_submitted_until_it_works() {
    scene.add(T, created());

    assertThat(task().status()).isEqualTo(TaskState.SUBMITTED);
    assertThat(scene.views.context(C).openTasks()).isEqualTo(1);
  }

  @Test
  void a_context_tells_how_its_last_root_task_stands() {
    scene.begin(T);
    scene.complete(T, "done");
    var place = scene.say("m1", "and now?");
    var later = Origin.root(new TaskId("later"), Scene.AGENT);
    scene.begin(later);
    scene.add(later, status(TaskState.FAILED));
    assertThat(scene.views.context(C).lastStatus()).isEqualTo(TaskState.FAILED);
    assertThat(scene.views.contexts(Set.of(), null, 10).items())
        .extracting(ContextView::lastStatus)
        .containsExactly(TaskState.FAILED);

    scene.rewind(place);

    assertThat(scene.views.context(C).lastStatus()).isEqualTo(TaskState.COMPLETED);
  }

  @Test
  void a_task_that_completes_has_content_and_metadata_of_all_its_steps() {
    scene.begin(T);
    scene.add(
        T, new TaskStatus(TaskState.WORKING, "routing", Json.object().put("routing", "single")));
    scene.add(T, status(TaskState.COMPLETED));
    scene.add(
        T,
        new TaskComplete("done", List.of(new ArtifactId("x")), Json.object().put("durationMs", 5)));

    assertThat(task().status()).isEqualTo(TaskState.COMPLETED);
    assertThat(task().content()).isEqualTo("done");
    assertThat(task().artifacts()).containsExactly(new ArtifactId("x"));
    assertThat(task().metadata())
        .isEqualTo(Json.object().put("routing", "single").put("durationMs", 5));
    assertThat(task().endedAt()).isEqualTo(Instant.ofEpochSecond(5));
    assertThat(scene.views.context(C).openTasks()).isZero();
  }

  @Test
  void a_task_that_fails_says_why() {
    scene.begin(T);
    scene.add(T, new ErrorReported(ErrorCode.TOOL_FAILED, "tool", true, ErrorScope.TOOL, null));
    scene.add(T, new ErrorReported(ErrorCode.TIMEOUT, "late", true, ErrorScope.TASK, null));
    scene.add(T, new TaskStatus(TaskState.FAILED, "too late", null));

    assertThat(task().error()).isEqualTo(new TaskError(ErrorCode.TIMEOUT, "late", true));
    assertThat(task().message()).isEqualTo("too late");
    assertThat(task().endedAt()).isNotNull();
  }

  @Test
  void a_task_that_completes_after_all_has_no_error() {
    scene.begin(T);
    scene.add(T, new ErrorReported(ErrorCode.MODEL_ERROR, "again", true, ErrorScope.TASK, null));
    scene.complete(T, "done");

    assertThat(task().error()).isNull();
  }

  @Test
  void a_request_to_cancel_shows_before_the_task_ends() {
    scene.begin(T);
    assertThat(task().cancelRequested()).isNull();

    scene.add(T, new CancelRequested("ada", null));

    assertThat(task().cancelRequested()).isTrue();
    assertThat(task().endedAt()).isNull();
  }

  @Test
  void subtasks_know_their_parent_and_root() {
    scene.begin(T);
    scene.begin(subtask("t2", T));
    scene.begin(subtask("t3", subtask("t2", T)));

    var deepest = scene.views.task(C, new TaskId("t3")).orElseThrow();

    assertThat(deepest.parentTaskId()).isEqualTo(new TaskId("t2"));
    assertThat(deepest.rootTaskId()).isEqualTo(T.taskId());
    assertThat(scene.views.tasks(C, null, 10).items())
        .extracting(task -> task.taskId().value())
        .containsExactly("t", "t2", "t3");
  }

  @Test
  void a_task_is_found_without_its_context() {
    scene.begin(T);

    assertThat(scene.views.contextOf(T.taskId())).contains(C);
    assertThat(scene.views.contextOf(new TaskId("unknown"))).isEmpty();
  }

  @Test
  void tasks_of_a_shared_prefix_belong_to_the_source_of_a_fork() {
    var fork = new ContextId("a-fork");
    var cut = scene.begin(T);
    scene.log.fork(fork, new ContextForked(C, cut, null, null));

    assertThat(scene.views.contextOf(T.taskId())).contains(C);
    assertThat(scene.views.task(fork, T.taskId())).isPresent();
  }

  @Test
  void usage_is_summed_exactly_per_model() {
    for (var i = 0; i < 10; i++) {
      scene.add(new Usage("m", 10, 1, 2L, null, new BigDecimal("0.1")));
    }
    scene.add(new Usage("m", 5, 5, null, 7L, new BigDecimal("0.25")));
    scene.add(new Usage("free", 1, 1, null, null, null));

    assertThat(scene.views.usage(C))
        .containsExactly(
            new UsageView("free", 1, 1, 1, 0, 0, null),
            new UsageView("m", 11, 105, 15, 20, 7, new BigDecimal("1.25")));
  }

  @Test
  void a_cost_that_is_told_after_its_call_is_no_other_call() {
    scene.add(new Usage("m", 10, 1, null, null, null));
    scene.add(new Usage("m", 0, 0, 0L, 0L, new BigDecimal("0.5")));

    assertThat(scene.views.usage(C))
        .containsExactly(new UsageView("m", 1, 10, 1, 0, 0, new BigDecimal("0.5")));
  }

  @Test
  void an_answer_takes_in_what_was_appended_just_before() {
    for (var i = 1; i <= 600; i++) {
      scene.say("m" + i, "text");
      if (i % 100 == 0) {
        assertThat(scene.views.context(C).messageCount()).isEqualTo(i);
      }
    }
  }

  @Test
  void an_unknown_context_is_not_found_and_a_deleted_one_is_gone() {
    scene.say("m", "text");
    scene.views.context(C);
    scene.log.delete(C);

    assertThatThrownBy(() -> scene.views.context(C)).isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> scene.views.messages(C, 0, 1)).isInstanceOf(Rejection.Gone.class);
    assertThatThrownBy(() -> scene.views.context(new ContextId("other")))
        .isInstanceOf(Rejection.NotFound.class);
    assertThat(scene.views.contexts(Set.of(), null, 10).items()).isEmpty();
  }

  @Test
  void the_same_message_id_may_come_again_after_a_rewind() {
    scene.say("m1", "old");
    scene.rewind(1);
    scene.add(message("m1", "new"));

    assertThat(scene.views.message(C, new MessageId("m1")).orElseThrow().content())
        .isEqualTo("new");
  }

  @Test
  void closed_views_say_so() {
    scene.views.close();

    assertThatThrownBy(() -> scene.views.context(C)).isInstanceOf(Rejection.Unavailable.class);
  }
}
