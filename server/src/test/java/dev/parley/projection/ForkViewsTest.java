package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.C;
import static dev.parley.projection.ViewsFixture.T;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Origin;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskEvent.TaskStored;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskView;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The views of a fork.
class ForkViewsTest {

  private static final ContextId FORK = new ContextId("a-fork");

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

  private void fork(long atSeq) {
    viewsFixture.log.fork(FORK, new ContextForked(C, atSeq, null, null));
  }

  @Test
  void a_fork_is_listed_with_where_it_comes_from() {
    var cut = viewsFixture.addMessage("m1", "one");
    viewsFixture.addMessage("m2", "two");
    viewsFixture.log.fork(FORK, new ContextForked(C, cut, "bob", "Another try"));

    var listed = viewsFixture.views.contexts(VisibleContexts.of(Set.of("bob")), null, 10).items();

    assertThat(listed).extracting(ContextView::contextId).containsExactly(FORK);
    assertThat(listed.getFirst().title()).isEqualTo("Another try");
    assertThat(listed.getFirst().forkedFrom()).isEqualTo(new ContextView.ForkedFrom(C, cut));
    assertThat(listed.getFirst().messageCount()).isEqualTo(1);
    assertThat(viewsFixture.views.context(C).forkedFrom()).isNull();
    assertThat(viewsFixture.views.context(C).owner()).isEqualTo("ada");
  }

  @Test
  void a_fork_without_a_title_has_that_of_its_source() {
    fork(viewsFixture.addMessage("m1", "one"));

    assertThat(viewsFixture.views.context(FORK).title()).isEqualTo("one");
    assertThat(viewsFixture.views.context(FORK).owner()).isEqualTo("ada");
  }

  @Test
  void a_task_that_was_open_is_canceled_in_the_fork_and_goes_on_in_the_source() {
    viewsFixture.beginTask(T);
    viewsFixture.add(T, ViewsFixture.delta(0, "Hel"));
    fork(viewsFixture.log.head(C).seq());
    viewsFixture.add(T, ViewsFixture.delta(1, "lo"));

    var canceled = viewsFixture.views.task(FORK, T.taskId()).orElseThrow();
    assertThat(canceled.status()).isEqualTo(TaskState.CANCELED);
    assertThat(canceled.contextId()).isEqualTo(FORK);
    assertThat(viewsFixture.views.snapshot(FORK, null, 10).partialTexts()).isEmpty();
    assertThat(viewsFixture.views.snapshot(C, null, 10).partialTexts().getFirst().text())
        .isEqualTo("Hello");
  }

  @Test
  void a_fork_is_as_it_was_when_its_source_is_deleted() {
    fork(viewsFixture.addMessage("m1", "one"));
    viewsFixture.log.delete(C);
    viewsFixture.views.forget(C);
    var kept = viewsFixture.views.dump();
    viewsFixture.views.close();
    ViewSchema.delete(viewsFixture.file);
    viewsFixture.views = TestViews.open(viewsFixture.file, viewsFixture.log);

    assertThat(viewsFixture.views.dump()).isEqualTo(kept);
    assertThat(viewsFixture.views.messages(FORK, 0, 10).items()).hasSize(1);
  }

  @Test
  void state_is_what_was_set_last_and_stands_in_the_snapshot() { // SESSION-51, SESSION-52
    viewsFixture.add(new StateUpdated(Json.object().put("born", 1).put("user:name", "Ada")));
    var place = viewsFixture.add(new StateUpdated(Json.object().put("mood", "calm")));
    viewsFixture.add(
        new StateUpdated(Json.object().putNull("born").put("mood", "wild").put("new", true)));
    viewsFixture.add(new StateUpdated(Json.object().put("user:name", "Bob")));
    assertThat(viewsFixture.views.state(C))
        .isEqualTo(Json.object().put("mood", "wild").put("new", true).put("user:name", "Bob"));
    assertThat(viewsFixture.views.rewindEffect(C, place).state())
        .isEqualTo(Json.object().putNull("new").put("born", 1).put("mood", "calm"));

    viewsFixture.rewind(place);

    assertThat(viewsFixture.views.snapshot(C, null, 10).state())
        .isEqualTo(Json.object().put("born", 1).put("mood", "calm").put("user:name", "Bob"));
  }

  @Test
  void a_long_text_is_stored_once_for_a_context_its_tasks_and_all_its_forks() throws Exception {
    var text =
        "The title has fifty characters and no more, so far".repeat(2)
            + "It is said again. ".repeat(1_000);
    viewsFixture.addMessage("m1", text);
    viewsFixture.beginTask(T);
    viewsFixture.add(T, new TaskStatus(TaskState.WORKING, null, Json.object().put("quoted", text)));
    viewsFixture.complete(T, text);
    for (var i = 0; i < 20; i++) {
      var fork = new ContextId("fork-" + i);
      viewsFixture.log.fork(fork, new ContextForked(C, viewsFixture.log.head(C).seq(), null, null));
      assertThat(viewsFixture.views.messages(fork, 0, 10).items().getFirst().content())
          .isEqualTo(text);
      var task = viewsFixture.views.task(fork, T.taskId()).orElseThrow();
      assertThat(task.content()).isEqualTo(text);
      assertThat(task.metadata()).isEqualTo(Json.object().put("quoted", text));
    }
    viewsFixture.views.close();

    // Some occurrences are split at the end of a page.
    assertThat(occurrences("It is said again")).isBetween(900, 1_000);
    viewsFixture.views = TestViews.open(viewsFixture.file, viewsFixture.log);
  }

  @Test
  void a_long_text_goes_with_the_last_context_that_has_it() throws Exception {
    var text = "It is long, and nobody may read it later. ".repeat(1_000);
    fork(viewsFixture.addMessage("m1", text));
    assertThat(viewsFixture.views.messages(FORK, 0, 10).items()).hasSize(1);
    viewsFixture.log.delete(C);
    viewsFixture.views.forget(C);
    assertThat(viewsFixture.views.messages(FORK, 0, 10).items().getFirst().content())
        .isEqualTo(text);
    viewsFixture.log.delete(FORK);
    viewsFixture.views.forget(FORK);
    viewsFixture.views.close();

    assertThat(occurrences("nobody may read it")).isZero();
    viewsFixture.views = TestViews.open(viewsFixture.file, viewsFixture.log);
  }

  @Test
  void an_edited_long_message_reads_as_edited() {
    var text = "It is long, and it will be edited. ".repeat(100);
    viewsFixture.addMessage("m1", text);
    viewsFixture.add(new MessageUpdated(new MessageId("m1"), "short", null));

    assertThat(viewsFixture.views.messages(C, 0, 10).items().getFirst().content())
        .isEqualTo("short");
    assertThat(viewsFixture.views.context(C).title()).isEqualTo("short");
  }

  @Test
  void metadata_that_looks_like_a_reference_to_a_text_stays_as_it_is() {
    var odd =
        Json.object().put("a", "\u0001" + "0".repeat(64)).put("b", "\u0001\u0001").put("c", "");
    odd.putArray("d").add("\u0001").addObject().put("e", "long ".repeat(100));
    viewsFixture.add(new Message(new MessageId("m1"), Role.USER, "hello", null, odd));

    assertThat(viewsFixture.views.messages(C, 0, 10).items().getFirst().metadata()).isEqualTo(odd);
  }

  @Test
  void a_fork_takes_little_space_for_each_message_and_task() throws IOException {
    var turns = 50;
    for (var i = 0; i < turns; i++) {
      turn(i);
    }
    var atSeq = viewsFixture.log.head(C).seq();
    var forks = 20;
    var before = bytesOfViews();
    for (var i = 0; i < forks; i++) {
      var fork = new ContextId(uuid("fork" + i));
      viewsFixture.log.fork(fork, new ContextForked(C, atSeq, null, null));
      assertThat(viewsFixture.views.context(fork).messageCount()).isEqualTo(turns);
    }

    assertThat((bytesOfViews() - before) / forks / turns).isLessThan(1_000);
  }

  /// A message, and a task with long metadata that answers it.
  private void turn(int number) {
    var task = Origin.root(new TaskId(uuid("task" + number)), ViewsFixture.AGENT);
    var answers = Json.object().put("taskId", task.taskId().value());
    viewsFixture.add(
        new Message(
            new MessageId(uuid("message" + number)),
            Role.USER,
            number + " is asked. ".repeat(200),
            null,
            answers));
    viewsFixture.beginTask(task);
    viewsFixture.add(task, ViewsFixture.status(TaskState.COMPLETED));
    var report = Json.object();
    for (var i = 0; i < 40; i++) {
      report.put("field " + i, "value " + i + " of " + number);
    }
    viewsFixture.add(task, new TaskComplete(number + " is answered. ".repeat(200), null, report));
  }

  private static String uuid(String name) {
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
  }

  /// The size of the file. Closes the views, so that all pages are in it.
  private long bytesOfViews() throws IOException {
    viewsFixture.reopen();
    viewsFixture.views.dump();
    viewsFixture.views.close();
    var bytes = Files.size(viewsFixture.file);
    viewsFixture.views = TestViews.open(viewsFixture.file, viewsFixture.log);
    return bytes;
  }

  @Test
  void long_json_is_the_same_in_a_fork_and_goes_with_the_last_context() throws IOException {
    var report = Json.object();
    for (var i = 0; i < 40; i++) {
      report.put("field " + i, "a short secret, number " + i);
    }
    viewsFixture.add(new Message(new MessageId("m1"), Role.USER, "hello", List.of(report), report));
    viewsFixture.add(new StateUpdated(Json.object().set("notes", report)));
    viewsFixture.add(T, new TaskStored(report));
    var failed = Origin.root(new TaskId("failed"), ViewsFixture.AGENT);
    viewsFixture.add(failed, ViewsFixture.created());
    viewsFixture.add(failed, new TaskStatus(TaskState.FAILED, null, report));
    fork(viewsFixture.log.head(C).seq());

    for (var context : List.of(C, FORK)) {
      var message = viewsFixture.views.messages(context, 0, 10).items().getFirst();
      assertThat(message.metadata()).isEqualTo(report);
      assertThat(message.parts()).containsExactly(report);
      assertThat(viewsFixture.views.state(context).get("notes")).isEqualTo(report);
      assertThat(viewsFixture.views.storedTasks().find(context, T.taskId())).hasValue(report);
      assertThat(viewsFixture.views.storedTasks().list(context).getFirst().task())
          .isEqualTo(report);
      assertThat(viewsFixture.views.task(context, failed.taskId()).orElseThrow().metadata())
          .isEqualTo(report);
    }
    for (var context : List.of(C, FORK)) {
      viewsFixture.log.delete(context);
      viewsFixture.views.forget(context);
    }
    viewsFixture.views.close();
    assertThat(occurrences("short secret")).isZero();
    viewsFixture.views = TestViews.open(viewsFixture.file, viewsFixture.log);
  }

  @Test
  void a_summary_with_long_metadata_is_hidden_when_its_text_is_corrected() {
    var seq = viewsFixture.addMessage("m1", "to be corrected");
    var summary = Json.object();
    summary.putObject("summary").put("throughSeq", seq).put("note", "n".repeat(200));
    summary.put("more", "m".repeat(200));
    viewsFixture.add(new Message(new MessageId("s"), Role.SYSTEM, "summary", null, summary));

    viewsFixture.add(new MessageUpdated(new MessageId("m1"), "corrected", null));

    assertThat(viewsFixture.views.messages(C, 0, 10).items())
        .extracting(MessageView::content)
        .containsExactly("corrected");
  }

  @Test
  void tasks_with_long_metadata_are_found_by_tenant() {
    var metadata = Json.object().put("more", "m".repeat(200)).put("less", "l".repeat(200));
    metadata.putObject("a2a").put("tenant", "acme");
    viewsFixture.beginTask(T);
    viewsFixture.add(T, ViewsFixture.status(TaskState.COMPLETED));
    viewsFixture.add(T, new TaskComplete("done", null, metadata));
    fork(viewsFixture.log.head(C).seq());

    for (var tenant : List.of("acme", "other")) {
      var filter =
          new RootTaskFilter(
              ViewsFixture.AGENT,
              VisibleContexts.ALL,
              null,
              Set.of(TaskState.COMPLETED),
              null,
              tenant);
      assertThat(viewsFixture.views.rootTasks().pageByChange(filter, null, 10).items())
          .extracting(TaskView::contextId)
          .isEqualTo(tenant.equals("acme") ? List.of(C) : List.of());
    }
  }

  private int occurrences(String words) throws IOException {
    var bytes = new String(Files.readAllBytes(viewsFixture.file), StandardCharsets.ISO_8859_1);
    return bytes.split(words, -1).length - 1;
  }
}
