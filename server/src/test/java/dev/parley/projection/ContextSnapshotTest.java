package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.AGENT;
import static dev.parley.projection.ViewsFixture.BLOCK;
import static dev.parley.projection.ViewsFixture.C;
import static dev.parley.projection.ViewsFixture.T;
import static dev.parley.projection.ViewsFixture.delta;
import static dev.parley.projection.ViewsFixture.end;
import static dev.parley.projection.ViewsFixture.status;
import static dev.parley.projection.ViewsFixture.subtask;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.AuthEvent;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextSnapshot;
import dev.parley.protocol.ContextSnapshot.PartialText;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The content of snapshots.
class ContextSnapshotTest {

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

  private ContextSnapshot now() {
    return viewsFixture.views.snapshot(C, null, 10);
  }

  private static InputRequired input(String id) {
    return new InputRequired(
        new InputId(id), null, InputType.CONFIRMATION, "May I?", null, null, null, null);
  }

  @Test
  void it_holds_a_window_of_the_latest_messages() {
    for (var i = 0; i < 5; i++) {
      viewsFixture.addMessage("m" + i, "text " + i);
    }

    var some = viewsFixture.views.snapshot(C, null, 2);

    assertThat(some.messages())
        .extracting(MessageView::content)
        .containsExactly("text 3", "text 4");
    assertThat(some.hasEarlierMessages()).isTrue();
    assertThat(viewsFixture.views.snapshot(C, null, 5).hasEarlierMessages()).isFalse();
    assertThat(viewsFixture.views.snapshot(C, null, 0).messages()).isEmpty();
    assertThat(some.position()).isEqualTo(Position.of(6));
    assertThat(some.context().position()).isEqualTo(Position.of(6));
  }

  @Test
  void it_holds_the_text_of_blocks_that_are_not_finished() { // CORE-9
    viewsFixture.beginTask(T);
    viewsFixture.add(T, delta(0, "Hel"));
    viewsFixture.addMessage("m", "meanwhile");
    viewsFixture.add(T, delta(1, "lo"));

    assertThat(now().partialTexts())
        .containsExactly(new PartialText(T.taskId(), BLOCK, 4, "Hello"));

    viewsFixture.add(T, end("Hello"));

    assertThat(now().partialTexts()).isEmpty();
    assertThat(viewsFixture.views.snapshot(C, Position.of(5), 10).partialTexts())
        .containsExactly(new PartialText(T.taskId(), BLOCK, 4, "Hel"));
  }

  @Test
  void blocks_of_two_tasks_may_have_one_name() {
    var other = subtask("t2", T);
    viewsFixture.beginTask(T);
    viewsFixture.beginTask(other);
    viewsFixture.add(T, delta(0, "one"));
    viewsFixture.add(other, delta(0, "two"));

    assertThat(now().partialTexts()).extracting(PartialText::text).containsExactly("one", "two");
  }

  @Test
  void text_of_a_task_that_has_ended_is_not_awaited() {
    viewsFixture.beginTask(T);
    viewsFixture.add(T, delta(0, "Hel"));
    viewsFixture.add(T, status(TaskState.CANCELED));

    assertThat(now().partialTexts()).isEmpty();
  }

  @Test
  void it_holds_inputs_until_they_are_given() { // EVENT-32
    viewsFixture.beginTask(T);
    var seq = viewsFixture.add(T, input("i1"));
    viewsFixture.add(T, input("i2"));
    viewsFixture.add(T, new InputEvent.InputLapsed(new InputId("i2"), null));

    var pending = now().pendingInputs().getFirst();

    assertThat(now().pendingInputs()).hasSize(1);
    assertThat(pending.get("inputId").asString()).isEqualTo("i1");
    assertThat(pending.get("taskId").asString()).isEqualTo(T.taskId().value());
    assertThat(pending.get("seq").asLong()).isEqualTo(seq);
    assertThat(pending.get("prompt").asString()).isEqualTo("May I?");

    viewsFixture.add(
        T, new InputReceived(new InputId("i1"), InputEvent.Provider.USER, null, null, null, null));

    assertThat(now().pendingInputs()).isEmpty();
  }

  @Test
  void inputs_and_sign_ins_end_with_their_task() {
    viewsFixture.beginTask(T);
    viewsFixture.add(T, input("i1"));
    viewsFixture.add(
        T,
        new AuthEvent.AuthRequired(
            new AuthId("s"), AuthEvent.AuthType.OAUTH2, null, null, "Sign in", null, null, null));
    assertThat(now().pendingAuths()).hasSize(1);

    viewsFixture.add(T, status(TaskState.CANCELED));

    assertThat(now().pendingInputs()).isEmpty();
    assertThat(now().pendingAuths()).isEmpty();
  }

  @Test
  void it_holds_open_tasks_and_the_trees_of_the_latest_roots() {
    viewsFixture.beginTask(T);
    for (var i = 0; i < SnapshotReader.ROOTS_MAX + 10; i++) {
      var root = Origin.root(new TaskId("root" + i), AGENT);
      var child = subtask("child" + i, root);
      viewsFixture.beginTask(root);
      viewsFixture.beginTask(child);
      viewsFixture.complete(child, "done");
      viewsFixture.complete(root, "done");
    }

    var tasks = now().tasks();

    assertThat(tasks).hasSize(1 + 2 * SnapshotReader.ROOTS_MAX);
    assertThat(tasks.getFirst().taskId()).isEqualTo(T.taskId());
    assertThat(tasks.get(1).taskId().value()).isEqualTo("root10");
    assertThat(tasks.getLast().taskId().value()).isEqualTo("child209");
  }

  @Test
  void it_holds_the_artifacts_that_were_begun_last() {
    for (var i = 0; i < SnapshotReader.ARTIFACTS_MAX + 5; i++) {
      viewsFixture.add(
          new DataWrite(new ArtifactId("a" + i), null, null, Json.object(), null, null));
    }

    assertThat(now().artifacts()).hasSize(SnapshotReader.ARTIFACTS_MAX);
    assertThat(now().artifacts().getFirst().artifactId().value()).isEqualTo("a5");
  }

  @Test
  void it_can_be_of_the_past() {
    viewsFixture.addMessage("m1", "one");
    viewsFixture.beginTask(T);
    viewsFixture.complete(T, "done");

    var past = viewsFixture.views.snapshot(C, Position.of(3), 10);

    assertThat(past.position()).isEqualTo(Position.of(3));
    assertThat(past.tasks().getFirst().status()).isEqualTo(TaskState.SUBMITTED);
    assertThat(past.context().openTasks()).isEqualTo(1);
  }

  @Test
  void a_position_that_nothing_stands_at_is_refused() {
    assertThatThrownBy(() -> viewsFixture.views.snapshot(C, Position.of(2), 10))
        .isInstanceOfSatisfying(
            Rejection.Invalid.class, r -> assertThat(r.code()).isEqualTo("invalid-cursor"));
    assertThatThrownBy(() -> viewsFixture.views.snapshot(C, Position.START, 10))
        .isInstanceOf(Rejection.Invalid.class);
    assertThatThrownBy(() -> viewsFixture.views.snapshot(new ContextId("none"), Position.of(1), 10))
        .isInstanceOf(Rejection.NotFound.class);
  }
}
