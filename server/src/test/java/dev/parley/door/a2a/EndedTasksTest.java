package dev.parley.door.a2a;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireArtifact;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireState;
import dev.parley.a2a.WireStatus;
import dev.parley.a2a.WireTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// The cache of ended tasks: hits, eviction and size limit.
class EndedTasksTest {

  private static final int LARGE = 1 << 20;

  private final EndedTasks tasks = new EndedTasks();
  private final AtomicInteger folds = new AtomicInteger();

  private void get(String context, String task, WireState state, String text) {
    var key = new EndedTasks.Key(new ContextId(context), new TaskId(task), Version.V1_0);
    tasks.get(
        key,
        () -> {
          folds.incrementAndGet();
          var parts = List.of(WirePart.text(text));
          var artifact = new WireArtifact("a", null, null, parts, null, List.of());
          var status = new WireStatus(state, null, null);
          return new WireTask(task, context, status, List.of(artifact), null, null);
        });
  }

  private void get(String context, String task) {
    get(context, task, WireState.COMPLETED, "done");
  }

  @Test
  void a_task_is_folded_once_for_each_context_that_has_it() {
    get("c", "t");
    get("c", "t");
    get("fork", "t");
    get("fork", "t");

    assertThat(folds).hasValue(2);
  }

  @Test
  void nothing_is_left_of_a_context_that_was_deleted() {
    get("c", "t");
    get("other", "t");
    tasks.forget(new ContextId("c"));

    get("other", "t");
    assertThat(folds).hasValue(2);
    get("c", "t");
    assertThat(folds).hasValue(3);
  }

  @Test
  void one_that_turns_out_to_go_on_is_not_kept() {
    get("c", "t", WireState.WORKING, "");
    get("c", "t", WireState.WORKING, "");

    assertThat(folds).hasValue(2);
  }

  @Test
  void the_oldest_go_when_all_weigh_too_much() {
    for (var i = 0; i < 20; i++) {
      get("c", "t" + i, WireState.COMPLETED, "x".repeat(LARGE));
    }
    get("c", "t19");
    assertThat(folds).hasValue(20);

    get("c", "t0");
    assertThat(folds).hasValue(21);
  }
}
