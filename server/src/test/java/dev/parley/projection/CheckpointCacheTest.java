package dev.parley.projection;

import static dev.parley.projection.ViewsFixture.C;
import static dev.parley.projection.ViewsFixture.delta;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.ReadCountingLog;
import dev.parley.projection.CheckpointCache.Checkpoint;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Snapshots of the past that start from earlier checkpoints.
class CheckpointCacheTest {

  private static final SnapshotReader.LaterCorrections NOTHING_LATER =
      new SnapshotReader.LaterCorrections(List.of(), List.of());

  private static final int LENGTH = 3 * SnapshotReader.CHECKPOINT_EVERY;

  @TempDir Path folder;

  /// Returns a context with tasks that write text, messages of people, and some rewinds.
  private ViewsFixture longScene() {
    var viewsFixture = new ViewsFixture(folder);
    for (var i = 0; i < LENGTH; i++) {
      var task = Origin.root(new TaskId("t" + i / 1000), ViewsFixture.AGENT);
      switch (i % 1000) {
        case 0 -> viewsFixture.beginTask(task);
        case 7 -> viewsFixture.addMessage("m" + i, "text " + i);
        case 998 -> viewsFixture.complete(task, "done");
        case 999 -> {
          if (i % 3000 == 2999) {
            viewsFixture.rewind(viewsFixture.log.head(C).seq() - 1500);
          }
        }
        default -> viewsFixture.add(task, delta(i, "word "));
      }
    }
    return viewsFixture;
  }

  @Test
  void a_snapshot_is_the_same_whatever_was_looked_at_before() {
    try (var viewsFixture = longScene()) {
      var kept = new SnapshotReader(viewsFixture.log, TestViews.RUNTIME);
      var random = new Random(1);

      for (var i = 0; i < 6; i++) {
        var at = Position.of(1 + random.nextLong(LENGTH));
        assertThat(kept.readPast(C, at, 10, NOTHING_LATER))
            .isEqualTo(
                new SnapshotReader(viewsFixture.log, TestViews.RUNTIME)
                    .readPast(C, at, 10, NOTHING_LATER));
      }
    }
  }

  @Test
  void whoever_looks_again_does_not_read_all_of_the_past() {
    try (var viewsFixture = longScene()) {
      var reads = new AtomicInteger();
      var snapshotReader =
          new SnapshotReader(ReadCountingLog.of(viewsFixture.log, reads), TestViews.RUNTIME);
      var whole = LENGTH / ViewUpdater.PAGE;

      snapshotReader.readPast(C, Position.of(LENGTH - 10), 10, NOTHING_LATER);
      assertThat(reads.getAndSet(0)).isGreaterThanOrEqualTo(whole);
      snapshotReader.readPast(C, Position.of(LENGTH - 20), 10, NOTHING_LATER);
      assertThat(reads.getAndSet(0)).isLessThan(whole);

      snapshotReader.forget(C);
      snapshotReader.readPast(C, Position.of(LENGTH - 20), 10, NOTHING_LATER);
      assertThat(reads.get()).isGreaterThanOrEqualTo(whole);
    }
  }

  @Test
  void those_that_nobody_asked_for_longest_go_first() {
    var other = new ContextId("other");
    var checkpointCache = new CheckpointCache(250);
    checkpointCache.put(C, new Checkpoint(Position.of(10), new byte[100]));
    checkpointCache.put(other, new Checkpoint(Position.of(5), new byte[100]));
    assertThat(checkpointCache.lastUpTo(C, Position.of(9))).isEmpty();
    assertThat(checkpointCache.lastUpTo(C, Position.of(10))).isPresent();

    checkpointCache.put(C, new Checkpoint(Position.of(20), new byte[100]));

    assertThat(checkpointCache.lastUpTo(other, Position.of(99))).isEmpty();
    assertThat(checkpointCache.lastUpTo(C, Position.of(15)).map(Checkpoint::at))
        .contains(Position.of(10));
    assertThat(checkpointCache.lastUpTo(C, Position.of(99)).map(Checkpoint::at))
        .contains(Position.of(20));
    checkpointCache.put(other, new Checkpoint(Position.of(1), new byte[300]));
    assertThat(checkpointCache.lastUpTo(other, Position.of(99))).isEmpty();
    assertThat(checkpointCache.lastUpTo(C, Position.of(99))).isPresent();
  }
}
