package dev.parley.api.a2a;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.a2a.A2aArtifact;
import dev.parley.a2a.A2aPart;
import dev.parley.a2a.A2aState;
import dev.parley.a2a.A2aTask;
import dev.parley.a2a.A2aTask.A2aStatus;
import dev.parley.a2a.A2aVersion;
import dev.parley.api.a2a.A2aTaskReader.EndedTaskCache;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// The cache of ended tasks: hits, eviction and size limit.
class EndedTaskCacheTest {

  private static final int LARGE = 1 << 20;

  private final EndedTaskCache tasks = new EndedTaskCache();
  private final AtomicInteger folds = new AtomicInteger();

  private void get(String context, String task, A2aState state, String text) {
    var endedTaskKey =
        new EndedTaskCache.EndedTaskKey(new ContextId(context), new TaskId(task), A2aVersion.V1_0);
    tasks.get(
        endedTaskKey,
        () -> {
          folds.incrementAndGet();
          var parts = List.of(A2aPart.text(text));
          var artifact = new A2aArtifact("a", null, null, parts, null, List.of());
          var status = new A2aStatus(state, null, null);
          return new A2aTask(task, context, status, List.of(artifact), null, null);
        });
  }

  private void get(String context, String task) {
    get(context, task, A2aState.COMPLETED, "done");
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
    tasks.evict(new ContextId("c"));

    get("other", "t");
    assertThat(folds).hasValue(2);
    get("c", "t");
    assertThat(folds).hasValue(3);
  }

  @Test
  void one_that_turns_out_to_go_on_is_not_kept() {
    get("c", "t", A2aState.WORKING, "");
    get("c", "t", A2aState.WORKING, "");

    assertThat(folds).hasValue(2);
  }

  @Test
  void the_oldest_go_when_all_weigh_too_much() {
    for (var i = 0; i < 20; i++) {
      get("c", "t" + i, A2aState.COMPLETED, "x".repeat(LARGE));
    }
    get("c", "t19");
    assertThat(folds).hasValue(20);

    get("c", "t0");
    assertThat(folds).hasValue(21);
  }
}
