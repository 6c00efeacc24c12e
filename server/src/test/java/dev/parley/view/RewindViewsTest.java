package dev.parley.view;

import static dev.parley.view.Scene.A;
import static dev.parley.view.Scene.AGENT;
import static dev.parley.view.Scene.C;
import static dev.parley.view.Scene.T;
import static dev.parley.view.Scene.data;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextEvent.ContextUpdated;
import dev.parley.protocol.MessageEvent.MessageDeleted;
import dev.parley.protocol.MessageEvent.MessageUpdated;
import dev.parley.protocol.MessageId;
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
  private Scene scene;

  @BeforeEach
  void open() {
    scene = new Scene(folder);
  }

  @AfterEach
  void close() {
    scene.close();
  }

  private List<String> messages() {
    return scene.views.messages(C, 0, 100).items().stream().map(MessageView::content).toList();
  }

  @Test
  void messages_tasks_and_usage_after_the_place_are_hidden() { // S3.43, S3.54
    scene.say("m1", "one");
    var place = scene.add(new Usage("m", 1, 1, null, null, null));
    scene.say("m2", "two");
    scene.begin(T);
    scene.add(T, new Usage("m", 10, 10, null, null, null));
    scene.complete(T, "done");
    scene.rewind(place);

    assertThat(messages()).containsExactly("one");
    assertThat(scene.views.context(C).messageCount()).isEqualTo(1);
    assertThat(scene.views.tasks(C, null, 10).items()).isEmpty();
    assertThat(scene.views.task(C, T.taskId())).isEmpty();
    assertThat(scene.views.contextOf(T.taskId())).contains(C);
    assertThat(scene.views.usage(C).getFirst().inputTokens()).isEqualTo(1);
  }

  @Test
  void artifacts_go_back_to_the_version_of_the_place() { // S3.53
    scene.begin(T);
    var place = scene.add(T, data("a", 1));
    scene.add(T, data("a", 2));
    scene.complete(T, "done");
    scene.rewind(place);

    assertThat(scene.views.artifact(C, A, null).orElseThrow().version()).isEqualTo(1);
    var later = scene.views.artifact(C, A, 2).orElseThrow();
    assertThat(later.rewound()).isTrue();
    assertThat(later.latestVersion()).isEqualTo(1);
    assertThat(scene.views.content(C, later)).asString().isEqualTo("{\"a\":2}");

    scene.add(data("a", 3));

    var latest = scene.views.artifact(C, A, null).orElseThrow();
    assertThat(latest.version()).isEqualTo(3);
    assertThat(scene.views.content(C, latest)).asString().isEqualTo("{\"a\":3}");
    assertThat(scene.views.artifact(C, A, 1).orElseThrow().latestVersion()).isEqualTo(3);
  }

  @Test
  void edits_and_deletions_after_the_place_stay() {
    scene.say("m1", "one");
    scene.add(new MessageUpdated(new MessageId("m1"), "one, edited", null));
    var place = scene.say("m2", "two");
    scene.add(new MessageUpdated(new MessageId("m1"), "one, edited again", null));
    scene.add(new MessageDeleted(new MessageId("m2")));
    scene.rewind(place);

    assertThat(messages()).containsExactly("one, edited again");
    assertThat(scene.views.context(C).messageCount()).isEqualTo(1);
  }

  @Test
  void a_task_that_began_before_the_place_stays_as_it_ended() {
    var place = scene.begin(T);
    scene.complete(T, "done");
    scene.rewind(place);

    assertThat(scene.views.task(C, T.taskId()).orElseThrow().status())
        .isEqualTo(TaskState.COMPLETED);
    assertThat(scene.views.context(C).openTasks()).isZero();
  }

  @Test
  void a_title_taken_from_a_hidden_message_goes_with_it() { // S3.50
    scene.say("m1", "first try");
    scene.rewind(1);
    assertThat(scene.views.context(C).title()).isNull();

    scene.say("m2", "second try");

    assertThat(scene.views.context(C).title()).isEqualTo("second try");
  }

  @Test
  void a_name_that_somebody_gave_stays() {
    scene.say("m1", "first try");
    scene.add(new ContextUpdated("Name", null));
    scene.rewind(1);

    assertThat(scene.views.context(C).title()).isEqualTo("Name");
  }

  @Test
  void a_rewind_into_a_stretch_that_was_left_brings_it_back_up_to_there() { // S3.55
    scene.say("m1", "one");
    var two = scene.say("m2", "two");
    scene.say("m3", "three");
    scene.rewind(1);
    scene.say("m4", "four");
    assertThat(messages()).containsExactly("four");

    scene.rewind(two);

    assertThat(messages()).containsExactly("one", "two");
    assertThat(scene.views.context(C).title()).isEqualTo("one");
  }

  @Test
  void rewinds_add_up() { // S3.55
    scene.say("m1", "one");
    var two = scene.say("m2", "two");
    scene.say("m3", "three");
    scene.rewind(two);
    var four = scene.say("m4", "four");
    scene.say("m5", "five");
    scene.rewind(four);

    assertThat(messages()).containsExactly("one", "two", "four");
    scene.rewind(0);
    assertThat(messages()).isEmpty();
  }

  @Test
  void a_hidden_task_is_hidden_in_snapshots_too() {
    scene.begin(T);
    scene.complete(T, "done");
    scene.rewind(1);
    scene.begin(Origin.root(new TaskId("t2"), AGENT));

    assertThat(scene.views.snapshot(C, null, 10).tasks())
        .extracting(task -> task.taskId().value())
        .containsExactly("t2");
  }
}
