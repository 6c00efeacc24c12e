package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.A;
import static dev.parley.projection.ViewsFixture.AGENT;
import static dev.parley.projection.ViewsFixture.C;
import static dev.parley.projection.ViewsFixture.T;
import static dev.parley.projection.ViewsFixture.data;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Origin;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The views after a rewind.
class RewindViewsTest {

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

  private List<String> messages() {
    return viewsFixture.views.messages(C, 0, 100).items().stream()
        .map(MessageView::content)
        .toList();
  }

  @Test
  void messages_tasks_and_usage_after_the_place_are_hidden() { // SESSION-43, SESSION-54
    viewsFixture.addMessage("m1", "one");
    var place = viewsFixture.add(new Usage("m", 1, 1, null, null, null));
    viewsFixture.addMessage("m2", "two");
    viewsFixture.beginTask(T);
    viewsFixture.add(T, new Usage("m", 10, 10, null, null, null));
    viewsFixture.complete(T, "done");
    viewsFixture.rewind(place);

    assertThat(messages()).containsExactly("one");
    assertThat(viewsFixture.views.context(C).messageCount()).isEqualTo(1);
    assertThat(viewsFixture.views.tasks(C, null, 10).items()).isEmpty();
    assertThat(viewsFixture.views.task(C, T.taskId())).isEmpty();
    assertThat(viewsFixture.views.contextOf(T.taskId())).contains(C);
    assertThat(viewsFixture.views.usage(C).getFirst().inputTokens()).isEqualTo(1);
  }

  @Test
  void artifacts_go_back_to_the_version_of_the_place() { // SESSION-53
    viewsFixture.beginTask(T);
    var place = viewsFixture.add(T, data("a", 1));
    viewsFixture.add(T, data("a", 2));
    viewsFixture.complete(T, "done");
    viewsFixture.rewind(place);

    assertThat(viewsFixture.views.artifact(C, A, null).orElseThrow().version()).isEqualTo(1);
    var later = viewsFixture.views.artifact(C, A, 2).orElseThrow();
    assertThat(later.rewound()).isTrue();
    assertThat(later.latestVersion()).isEqualTo(1);
    assertThat(viewsFixture.views.content(C, later)).asString().isEqualTo("{\"a\":2}");

    viewsFixture.add(data("a", 3));

    var latest = viewsFixture.views.artifact(C, A, null).orElseThrow();
    assertThat(latest.version()).isEqualTo(3);
    assertThat(viewsFixture.views.content(C, latest)).asString().isEqualTo("{\"a\":3}");
    assertThat(viewsFixture.views.artifact(C, A, 1).orElseThrow().latestVersion()).isEqualTo(3);
  }

  @Test
  void edits_and_deletions_after_the_place_stay() {
    viewsFixture.addMessage("m1", "one");
    viewsFixture.add(new MessageUpdated(new MessageId("m1"), "one, edited", null));
    var place = viewsFixture.addMessage("m2", "two");
    viewsFixture.add(new MessageUpdated(new MessageId("m1"), "one, edited again", null));
    viewsFixture.add(new MessageDeleted(new MessageId("m2")));
    viewsFixture.rewind(place);

    assertThat(messages()).containsExactly("one, edited again");
    assertThat(viewsFixture.views.context(C).messageCount()).isEqualTo(1);
  }

  @Test
  void a_task_that_began_before_the_place_stays_as_it_ended() {
    var place = viewsFixture.beginTask(T);
    viewsFixture.complete(T, "done");
    viewsFixture.rewind(place);

    assertThat(viewsFixture.views.task(C, T.taskId()).orElseThrow().status())
        .isEqualTo(TaskState.COMPLETED);
    assertThat(viewsFixture.views.context(C).openTasks()).isZero();
  }

  @Test
  void a_title_taken_from_a_hidden_message_goes_with_it() { // SESSION-50
    viewsFixture.addMessage("m1", "first try");
    viewsFixture.rewind(1);
    assertThat(viewsFixture.views.context(C).title()).isNull();

    viewsFixture.addMessage("m2", "second try");

    assertThat(viewsFixture.views.context(C).title()).isEqualTo("second try");
  }

  @Test
  void a_name_that_somebody_gave_stays() {
    viewsFixture.addMessage("m1", "first try");
    viewsFixture.add(new ContextUpdated("Name", null));
    viewsFixture.rewind(1);

    assertThat(viewsFixture.views.context(C).title()).isEqualTo("Name");
  }

  @Test
  void a_rewind_into_a_stretch_that_was_left_brings_it_back_up_to_there() { // SESSION-55
    viewsFixture.addMessage("m1", "one");
    var two = viewsFixture.addMessage("m2", "two");
    viewsFixture.addMessage("m3", "three");
    viewsFixture.rewind(1);
    viewsFixture.addMessage("m4", "four");
    assertThat(messages()).containsExactly("four");

    viewsFixture.rewind(two);

    assertThat(messages()).containsExactly("one", "two");
    assertThat(viewsFixture.views.context(C).title()).isEqualTo("one");
  }

  @Test
  void rewinds_add_up() { // SESSION-55
    viewsFixture.addMessage("m1", "one");
    var two = viewsFixture.addMessage("m2", "two");
    viewsFixture.addMessage("m3", "three");
    viewsFixture.rewind(two);
    var four = viewsFixture.addMessage("m4", "four");
    viewsFixture.addMessage("m5", "five");
    viewsFixture.rewind(four);

    assertThat(messages()).containsExactly("one", "two", "four");
    viewsFixture.rewind(0);
    assertThat(messages()).isEmpty();
  }

  @Test
  void a_hidden_task_is_hidden_in_snapshots_too() {
    viewsFixture.beginTask(T);
    viewsFixture.complete(T, "done");
    viewsFixture.rewind(1);
    viewsFixture.beginTask(Origin.root(new TaskId("t2"), AGENT));

    assertThat(viewsFixture.views.snapshot(C, null, 10).tasks())
        .extracting(task -> task.taskId().value())
        .containsExactly("t2");
  }
}
