package dev.parley.view;

import static dev.parley.view.Scene.C;
import static dev.parley.view.Scene.T;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextEvent.ContextForked;
import dev.parley.protocol.ContextEvent.StateUpdated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the views show of a fork.
class ForkViewsTest {

  private static final ContextId FORK = new ContextId("a-fork");

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

  private void fork(long atSeq) {
    scene.log.fork(FORK, new ContextForked(C, atSeq, null, null));
  }

  @Test
  void a_fork_is_listed_with_where_it_comes_from() {
    var cut = scene.say("m1", "one");
    scene.say("m2", "two");
    scene.log.fork(FORK, new ContextForked(C, cut, "bob", "Another try"));

    var listed = scene.views.contexts(Set.of("bob"), null, 10).items();

    assertThat(listed).extracting(ContextView::contextId).containsExactly(FORK);
    assertThat(listed.getFirst().title()).isEqualTo("Another try");
    assertThat(listed.getFirst().forkedFrom()).isEqualTo(new ContextView.ForkedFrom(C, cut));
    assertThat(listed.getFirst().messageCount()).isEqualTo(1);
    assertThat(scene.views.context(C).forkedFrom()).isNull();
    assertThat(scene.views.context(C).owner()).isEqualTo("ada");
  }

  @Test
  void a_fork_without_a_title_has_that_of_its_source() {
    fork(scene.say("m1", "one"));

    assertThat(scene.views.context(FORK).title()).isEqualTo("one");
    assertThat(scene.views.context(FORK).owner()).isEqualTo("ada");
  }

  @Test
  void a_task_that_was_open_is_canceled_in_the_fork_and_goes_on_in_the_source() {
    scene.begin(T);
    scene.add(T, Scene.delta(0, "Hel"));
    fork(scene.log.head(C).seq());
    scene.add(T, Scene.delta(1, "lo"));

    var canceled = scene.views.task(FORK, T.taskId()).orElseThrow();
    assertThat(canceled.status()).isEqualTo(TaskState.CANCELED);
    assertThat(canceled.contextId()).isEqualTo(FORK);
    assertThat(scene.views.snapshot(FORK, null, 10).partialTexts()).isEmpty();
    assertThat(scene.views.snapshot(C, null, 10).partialTexts().getFirst().text())
        .isEqualTo("Hello");
  }

  @Test
  void a_fork_is_as_it_was_when_its_source_is_deleted() {
    fork(scene.say("m1", "one"));
    scene.log.delete(C);
    scene.views.forget(C);
    var kept = scene.views.dump();
    scene.views.close();
    ViewSchema.delete(scene.file);
    scene.views = new Views(scene.file, scene.log);

    assertThat(scene.views.dump()).isEqualTo(kept);
    assertThat(scene.views.messages(FORK, 0, 10).items()).hasSize(1);
  }

  @Test
  void state_is_what_was_set_last_and_stands_in_the_snapshot() { // S3.51, S3.52
    scene.add(new StateUpdated(Json.object().put("born", 1).put("user:name", "Ada")));
    var place = scene.add(new StateUpdated(Json.object().put("mood", "calm")));
    scene.add(new StateUpdated(Json.object().putNull("born").put("mood", "wild").put("new", true)));
    scene.add(new StateUpdated(Json.object().put("user:name", "Bob")));
    assertThat(scene.views.state(C))
        .isEqualTo(Json.object().put("mood", "wild").put("new", true).put("user:name", "Bob"));
    assertThat(scene.views.undo(C, place).state())
        .isEqualTo(Json.object().putNull("new").put("born", 1).put("mood", "calm"));

    scene.rewind(place);

    assertThat(scene.views.snapshot(C, null, 10).state())
        .isEqualTo(Json.object().put("born", 1).put("mood", "calm").put("user:name", "Bob"));
  }
}
