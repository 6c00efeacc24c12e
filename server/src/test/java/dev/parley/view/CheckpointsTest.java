package dev.parley.view;

import static dev.parley.view.Scene.C;
import static dev.parley.view.Scene.delta;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.CountedReads;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import dev.parley.view.Checkpoints.Checkpoint;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Snapshots of the past that start from earlier checkpoints.
class CheckpointsTest {

  private static final Snapshots.Later NOTHING_LATER = new Snapshots.Later(List.of(), List.of());

  private static final int LENGTH = 3 * Snapshots.CHECKPOINT_EVERY;

  @TempDir Path folder;

  /// Returns a context with tasks that write text, messages of people, and some rewinds.
  private Scene longScene() {
    var scene = new Scene(folder);
    for (var i = 0; i < LENGTH; i++) {
      var task = Origin.root(new TaskId("t" + i / 1000), Scene.AGENT);
      switch (i % 1000) {
        case 0 -> scene.begin(task);
        case 7 -> scene.say("m" + i, "text " + i);
        case 998 -> scene.complete(task, "done");
        case 999 -> {
          if (i % 3000 == 2999) {
            scene.rewind(scene.log.head(C).seq() - 1500);
          }
        }
        default -> scene.add(task, delta(i, "word "));
      }
    }
    return scene;
  }

  @Test
  void a_snapshot_is_the_same_whatever_was_looked_at_before() {
    try (var scene = longScene()) {
      var kept = new Snapshots(scene.log);
      var random = new Random(1);

      for (var i = 0; i < 6; i++) {
        var at = Position.of(1 + random.nextLong(LENGTH));
        assertThat(kept.past(C, at, 10, NOTHING_LATER))
            .isEqualTo(new Snapshots(scene.log).past(C, at, 10, NOTHING_LATER));
      }
    }
  }

  @Test
  void whoever_looks_again_does_not_read_all_of_the_past() {
    try (var scene = longScene()) {
      var reads = new AtomicInteger();
      var snapshots = new Snapshots(CountedReads.of(scene.log, reads));
      var whole = LENGTH / Intake.PAGE;

      snapshots.past(C, Position.of(LENGTH - 10), 10, NOTHING_LATER);
      assertThat(reads.getAndSet(0)).isGreaterThanOrEqualTo(whole);
      snapshots.past(C, Position.of(LENGTH - 20), 10, NOTHING_LATER);
      assertThat(reads.getAndSet(0)).isLessThan(whole);

      snapshots.forget(C);
      snapshots.past(C, Position.of(LENGTH - 20), 10, NOTHING_LATER);
      assertThat(reads.get()).isGreaterThanOrEqualTo(whole);
    }
  }

  @Test
  void those_that_nobody_asked_for_longest_go_first() {
    var other = new ContextId("other");
    var checkpoints = new Checkpoints(250);
    checkpoints.keep(C, new Checkpoint(Position.of(10), new byte[100]));
    checkpoints.keep(other, new Checkpoint(Position.of(5), new byte[100]));
    assertThat(checkpoints.before(C, Position.of(9))).isEmpty();
    assertThat(checkpoints.before(C, Position.of(10))).isPresent();

    checkpoints.keep(C, new Checkpoint(Position.of(20), new byte[100]));

    assertThat(checkpoints.before(other, Position.of(99))).isEmpty();
    assertThat(checkpoints.before(C, Position.of(15)).map(Checkpoint::at))
        .contains(Position.of(10));
    assertThat(checkpoints.before(C, Position.of(99)).map(Checkpoint::at))
        .contains(Position.of(20));
    checkpoints.keep(other, new Checkpoint(Position.of(1), new byte[300]));
    assertThat(checkpoints.before(other, Position.of(99))).isEmpty();
    assertThat(checkpoints.before(C, Position.of(99))).isPresent();
  }
}
